// The view of a tensor that is gone, and with it its shape, at the end of the expression.
// expect: deleted
#include <smdebug/tensor/strided_tensor.hpp>

smdebug::strided_tensor make();

unsigned long use() {
#ifdef CONTROL
    const smdebug::strided_tensor made = make();
    return made.view().count();
#else
    return make().view().count();
#endif
}
