// The kernel for every 64-bit ARM CPU: NEON.
#include "local_kernel.hpp"

namespace smdebug {
inline namespace v1 {
namespace reduce {

// Not a local_arch, which xsimd 8's NEON refuses, and need not be: NEON is what code for any ARM CPU is compiled for.
constinit const detail::compiled_kernel neon64_kernel = detail::table_of<simd_kernel<xsimd::neon64>>("neon64");

}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
