// The kernel for x86-64 CPUs with AVX2, FMA and F16C.
#include "local_kernel.hpp"

namespace {
struct owner;
}

namespace smdebug::inline v1::reduce {

constinit const detail::compiled_kernel avx2_kernel = local_kernel<xsimd::fma3<xsimd::avx2>, owner>("avx2");

}  // namespace smdebug::inline v1::reduce
