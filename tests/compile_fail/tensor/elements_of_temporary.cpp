// The elements of a value that is gone at the end of the expression.
// expect: deleted
#include <smdebug/tensor/tensor_value.hpp>

smdebug::tensor_value read();

unsigned long use() {
#ifdef CONTROL
    const smdebug::tensor_value value = read();
    const auto& seen = value.elements<float>();
#else
    const auto& seen = read().elements<float>();
#endif
    return sizeof(seen);
}
