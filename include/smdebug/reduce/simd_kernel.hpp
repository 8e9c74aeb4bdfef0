// The SIMD kernel: the same definition as the scalar one, with as many lanes at a time as a vector holds.
// Arch is a template parameter, so that kernels for several instruction sets may live in one program.
#pragma once

#include <smdebug/core/status.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/reduce_tensor.hpp>
#include <smdebug/reduce/simd_sweeps.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <string>

namespace smdebug {
inline namespace v1 {

/// Reduces with the vectors of Arch, one of xsimd's architectures that the file is compiled for.
/// Models reduction_kernel; answers the same bits as scalar_kernel and as every other Arch.
/// The caller sees to it that the CPU has the instructions.
template <class Arch = xsimd::default_arch>
struct simd_kernel {
    /// At least `wanted` of one tensor, see reduction_kernel.  Cost: one pass, no allocation.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted) const noexcept {
        return reduce::detail::reduce_tensor<reduce::detail::simd_sweeps<Arch>>(tensor, wanted);
    }

    /// The same, and `watch` sees the bytes piece by piece, see watched_reducer.
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor, reduction_set wanted,
                                                  const byte_watch& watch) const noexcept {
        return reduce::detail::reduce_tensor<reduce::detail::simd_sweeps<Arch>>(tensor, wanted, &watch);
    }

    /// The same where the answer is to stay, see in_place_reducer.
    [[nodiscard]] status reduce_into(const tensor_view& tensor, reduction_set wanted, const byte_watch* watch,
                                     reduction_values& out) const noexcept {
        return reduce::detail::reduce_into<reduce::detail::simd_sweeps<Arch>>(tensor, wanted, watch, 0, out);
    }

    /// The same of a tensor whose bytes are fed, see fed_reducer.
    [[nodiscard]] result<reduction_values> reduce_fed(const detail::fed_tensor& tensor,
                                                      reduction_set wanted) const noexcept {
        return reduce::detail::reduce_fed_tensor<reduce::detail::simd_sweeps<Arch>>(tensor, wanted);
    }

    /// The same of a tensor that `repeats` more elements belong to, see repeating_reducer.
    [[nodiscard]] result<reduction_values> reduce_repeated(const tensor_view& values, std::size_t repeats,
                                                           reduction_set wanted) const noexcept {
        return reduce::detail::reduce_repeated_tensor<reduce::detail::simd_sweeps<Arch>>(values, repeats, wanted);
    }

    /// A set that is known when it is compiled: the code is that of this set alone, and so is the cost of compiling it.
    template <reduction_set Wanted>
    [[nodiscard]] result<reduction_values> reduce(const tensor_view& tensor) const noexcept {
        return reduce::detail::reduce_tensor<reduce::detail::simd_sweeps<Arch>, Wanted>(tensor);
    }

    /// "simd<avx512bw>": the name is xsimd's.
    [[nodiscard]] std::string name() const { return std::string{"simd<"}.append(Arch::name()).append(">"); }
};

template <class Arch>
inline constexpr bool gives_usual_bits<simd_kernel<Arch>> = true;

}  // namespace v1
}  // namespace smdebug
