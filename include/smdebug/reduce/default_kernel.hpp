// The default kernel of trials and hooks.  Header-only: SIMD code for the instruction set that the file is compiled
// for, so that files with other -m flags have another trial type.  In the compiled form the same for all files: picked
// for the CPU at program start from smdebug::kernels.
#pragma once

#ifdef SMDEBUG_COMPILED
#include <smdebug/reduce/dispatched_kernel.hpp>
#else
#include <smdebug/reduce/simd_kernel.hpp>
#endif

namespace smdebug::inline v1 {

#ifdef SMDEBUG_COMPILED
using default_kernel = dispatched_kernel;
#else
using default_kernel = simd_kernel<>;
#endif

}  // namespace smdebug::inline v1
