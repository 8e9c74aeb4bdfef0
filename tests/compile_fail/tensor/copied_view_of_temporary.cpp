// A view that is made of a value that is gone at the end of the expression; as an argument of a call it lives long enough.
// expect: ambiguous
#include <smdebug/reduce/digest.hpp>
#include <smdebug/tensor/tensor_value.hpp>

smdebug::tensor_value read();
double norm_of(const smdebug::tensor_view& values);

double use() {
#ifdef CONTROL
    const smdebug::tensor_value value = read();
    const smdebug::tensor_view seen = value;
    smdebug::tensor_view other;
    other = value;
    return norm_of(read()) + norm_of(seen) + norm_of(other) + static_cast<double>(smdebug::digest_of(read()));
#else
    const smdebug::tensor_view seen = read();
    return norm_of(seen);
#endif
}
