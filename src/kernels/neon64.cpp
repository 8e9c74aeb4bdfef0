// The kernel for every 64-bit ARM CPU: NEON.
#include "local_kernel.hpp"

namespace smdebug::inline v1::reduce {

// Not a local_arch, which xsimd 8's NEON rejects; none is needed, as all code for 64-bit ARM is compiled for NEON.
constinit const detail::compiled_kernel neon64_kernel = detail::table_of<simd_kernel<xsimd::neon64>>("neon64");

}  // namespace smdebug::inline v1::reduce
