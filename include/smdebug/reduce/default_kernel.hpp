// The default kernel of trials and hooks.  Header-only: SIMD code for the instruction set that the file is compiled
// for, so that files with other -m flags have another trial type.  In the compiled form the same for all files: picked
// for the CPU at program start from smdebug::kernels.
#pragma once

#ifdef SMDEBUG_COMPILED
#include <smdebug/reduce/dispatched_kernel.hpp>
#else
#include <smdebug/reduce/simd_kernel.hpp>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <smdebug/reduce/scalar_kernel.hpp>
#endif
#endif

namespace smdebug::inline v1 {

#ifdef SMDEBUG_COMPILED
using default_kernel = dispatched_kernel;
#else
using default_kernel = simd_kernel<>;
#endif

namespace reduce::detail {

/// Hashes contents.  Header-only with the vectors that every processor of the architecture has: files with other -m
/// flags share the functions that use it.
#if defined(SMDEBUG_COMPILED)
using tensor_hasher = dispatched_kernel;
#elif defined(__x86_64__)
using tensor_hasher = simd_kernel<xsimd::sse2>;
#elif defined(__aarch64__)
using tensor_hasher = simd_kernel<xsimd::neon64>;
#else
using tensor_hasher = scalar_kernel;
#endif

}  // namespace reduce::detail
}  // namespace smdebug::inline v1
