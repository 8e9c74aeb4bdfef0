// The elements of a value in a look-up that is gone at the end of the expression.
// expect: deleted
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>

smdebug::lookup<smdebug::tensor_value> find();

unsigned long use() {
#ifdef CONTROL
    const smdebug::lookup<smdebug::tensor_value> found = find();
    const auto& seen = found->elements<float>();
#else
    const auto& seen = find()->elements<float>();
#endif
    return sizeof(seen);
}
