// The kernel for processors that smdebug has no SIMD kernel for: plain loops.
#include "local_kernel.hpp"

#include <smdebug/reduce/scalar_kernel.hpp>

namespace smdebug {
inline namespace v1 {
namespace reduce {

constinit const compiled_kernel plain_kernel{"scalar", &reduce_with<scalar_kernel>};

}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
