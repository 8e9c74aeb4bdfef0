// The kernel for every x86-64 CPU: SSE2.
#include "local_kernel.hpp"

namespace {
struct owner;
}

namespace smdebug::inline v1::reduce {

constinit const detail::compiled_kernel sse2_kernel = local_kernel<xsimd::sse2, owner>("sse2");

}  // namespace smdebug::inline v1::reduce
