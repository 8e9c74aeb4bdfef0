// The kernel of trials and hooks that name none.  Header-only: SIMD code for the instruction set that the file is
// compiled for, so that files with other -m flags have trials of another type.  In the compiled form one for all files:
// picked for the CPU when the program starts, out of smdebug::kernels.
#pragma once

#ifdef SMDEBUG_COMPILED
#include <smdebug/reduce/dispatched_kernel.hpp>
#else
#include <smdebug/reduce/simd_kernel.hpp>
#endif

namespace smdebug {
inline namespace v1 {

#ifdef SMDEBUG_COMPILED
using default_kernel = dispatched_kernel;
#else
using default_kernel = simd_kernel<>;
#endif

}  // namespace v1
}  // namespace smdebug
