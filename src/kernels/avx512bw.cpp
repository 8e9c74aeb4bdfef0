// The kernel for x86-64 CPUs with AVX-512 F, CD, BW, DQ and VL, and all that the one for AVX2 needs.
#include "local_kernel.hpp"

namespace {
struct owner;
}

namespace smdebug::inline v1::reduce {

constinit const detail::compiled_kernel avx512bw_kernel = local_kernel<xsimd::avx512bw, owner>("avx512bw");

}  // namespace smdebug::inline v1::reduce
