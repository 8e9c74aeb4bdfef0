// NaN, infinite, finite: by the bits, so that the answers hold in files compiled with -ffast-math or -Ofast, too, where
// std::isnan and std::isfinite are constants.  What kernels call is always inlined: the linker might keep a copy that
// was compiled for another instruction set.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace smdebug::inline v1 {

namespace detail {

/// The bits of |value|, and those of infinity, which those of every NaN exceed.
template <class Real>
struct float_bits {
    using bits_type = std::conditional_t<std::same_as<Real, float>, std::uint32_t, std::uint64_t>;
    static constexpr auto infinity = std::bit_cast<bits_type>(std::numeric_limits<Real>::infinity());

    [[nodiscard, gnu::always_inline]] static constexpr bits_type of_magnitude(Real value) noexcept {
        return std::bit_cast<bits_type>(value) & (~bits_type{0} >> 1U);
    }
};

}  // namespace detail

/// float or double.
template <class Type>
concept real_number = std::same_as<Type, float> || std::same_as<Type, double>;

template <real_number Real>
[[nodiscard]] constexpr bool is_nan(Real value) noexcept {
    return detail::float_bits<Real>::of_magnitude(value) > detail::float_bits<Real>::infinity;
}

/// +inf or -inf.
template <real_number Real>
[[nodiscard]] constexpr bool is_infinite(Real value) noexcept {
    return detail::float_bits<Real>::of_magnitude(value) == detail::float_bits<Real>::infinity;
}

/// Neither infinite nor NaN.
template <real_number Real>
[[nodiscard, gnu::always_inline]] constexpr bool is_finite(Real value) noexcept {
    return detail::float_bits<Real>::of_magnitude(value) < detail::float_bits<Real>::infinity;
}

}  // namespace smdebug::inline v1
