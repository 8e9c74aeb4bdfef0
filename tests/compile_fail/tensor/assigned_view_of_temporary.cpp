// A view that is set to a value that is gone at the end of the expression.
// expect: ambiguous
#include <smdebug/tensor/tensor_value.hpp>

smdebug::tensor_value read();

void use(smdebug::tensor_view& seen) {
#ifdef CONTROL
    static const smdebug::tensor_value value = read();
    seen = value;
#else
    seen = read();
#endif
}
