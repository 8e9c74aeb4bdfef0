// The kernel for processors that smdebug has no SIMD kernel for: plain loops.
#include "local_kernel.hpp"

#include <smdebug/reduce/scalar_kernel.hpp>

namespace smdebug::inline v1::reduce {

constinit const detail::compiled_kernel plain_kernel = detail::table_of<scalar_kernel>("scalar");

}  // namespace smdebug::inline v1::reduce
