// A part of <smdebug/src.hpp>: the kernel for the instruction set that its file is compiled for.  smdebug::kernels has those
// that are chosen for the CPU when a program starts; a program has one of the two.
#pragma once

#include <smdebug/reduce/dispatched_kernel.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/simd_kernel.hpp>

#include <array>
#include <span>

namespace smdebug::inline v1 {

std::span<const dispatched_kernel> dispatched_kernel::available() noexcept {
    static constexpr reduce::detail::compiled_kernel code =
        reduce::detail::table_of<simd_kernel<>>(xsimd::default_arch::name());
    static constinit const std::array kernels{dispatched_kernel{code}};
    return kernels;
}

}  // namespace smdebug::inline v1
