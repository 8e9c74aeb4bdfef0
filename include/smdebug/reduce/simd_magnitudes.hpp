// Magnitudes of complex numbers with vectors, in the bits of complex_magnitude.
// Free of branches: both parts of its case distinction cost less than the square root that all of it hides behind.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/simd_batch.hpp>
#include <smdebug/reduce/widen.hpp>

#include <concepts>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

template <class Arch>
[[nodiscard]] inline doubles<Arch> square_root(doubles<Arch> x) noexcept {
    if constexpr (has_avx512<Arch>) {
        return doubles<Arch>(_mm512_maskz_sqrt_pd(every_lane<Arch>, x.data));
    } else {
        return xsimd::sqrt(x);
    }
}

/// Real and imaginary parts of the complex numbers in `first` and `second`, both in the same order.
template <class Arch>
struct complex_parts {
    doubles<Arch> re;
    doubles<Arch> im;

    complex_parts(doubles<Arch> first, doubles<Arch> second) noexcept {
        if constexpr (doubles<Arch>::size == 2) {
            re = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 0, 2));
            im = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 1, 3));
        } else if constexpr (doubles<Arch>::size == 4) {
            // Within halves, which is one instruction; `in_order` makes up for it.
            re = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 0, 4, 2, 6));
            im = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 1, 5, 3, 7));
        } else {
            re = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 0, 2, 4, 6, 8, 10, 12, 14));
            im = doubles<Arch>(__builtin_shufflevector(first.data, second.data, 1, 3, 5, 7, 9, 11, 13, 15));
        }
    }

    /// Puts what was computed from re and im into the order of the numbers.
    [[nodiscard]] static doubles<Arch> in_order(doubles<Arch> x) noexcept {
        if constexpr (doubles<Arch>::size == 4) {
            return doubles<Arch>(__builtin_shufflevector(x.data, x.data, 0, 2, 1, 3));
        } else {
            return x;
        }
    }
};

/// Arch whose vectors complex_parts knows.
template <class Arch>
concept magnitude_arch = xsimd::types::has_simd_register<double, Arch>::value &&
                         (doubles<Arch>::size == 2 || doubles<Arch>::size == 4 || doubles<Arch>::size == 8);

/// Magnitudes where the squares of the parts are in the range of a double, or 0, infinite or NaN.
template <class Arch>
[[nodiscard]] inline doubles<Arch> plain_magnitudes(const complex_parts<Arch>& z) noexcept {
    return square_root<Arch>(rounded_product<Arch>(z.re, z.re) + rounded_product<Arch>(z.im, z.im));
}

/// Magnitudes of any numbers: complex_magnitude line by line.
template <class Arch>
[[nodiscard]] inline doubles<Arch> scaled_magnitudes(const complex_parts<Arch>& z) noexcept {
    using reals = doubles<Arch>;
    const reals most = larger<Arch, double>(xsimd::abs(z.re), xsimd::abs(z.im));
    const auto is_huge = most > reals(0x1p400);
    const auto is_tiny = most < reals(0x1p-400);
    const reals up = xsimd::select(is_huge, reals(0x1p-600), xsimd::select(is_tiny, reals(0x1p600), reals(1.0)));
    const reals down = xsimd::select(is_huge, reals(0x1p600), xsimd::select(is_tiny, reals(0x1p-600), reals(1.0)));
    const reals x = z.re * up;
    const reals y = z.im * up;
    return square_root<Arch>(rounded_product<Arch>(x, x) + rounded_product<Arch>(y, y)) * down;
}

/// Sixteen complex numbers to their magnitudes.  The parts of a complex64 are floats: their squares, from 2^-298 to
/// 2^256, and 0 need no scaling, and a scaling by powers of two would not change a bit.
template <magnitude_arch Arch, class Real>
inline void convert_row(from_complex<Real> /*how*/, const std::byte* from, double scale, double* to) noexcept {
    constexpr std::size_t width = doubles<Arch>::size;
    const auto* at = reinterpret_cast<const Real*>(from);  // only ever read by unaligned vector loads
    const doubles<Arch> factor(scale);
    for (std::size_t i = 0; i < lane_count; i += width, at += 2 * width) {
        const doubles<Arch> first = load_doubles<Arch>(at);
        const doubles<Arch> second = load_doubles<Arch>(at + width);
        const bool plain = std::same_as<Real, float> && scale == 1;
        const doubles<Arch> found = plain ? plain_magnitudes<Arch>({first, second})
                                          : scaled_magnitudes<Arch>({first * factor, second * factor});
        complex_parts<Arch>::in_order(found).store_unaligned(to + i);
    }
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
