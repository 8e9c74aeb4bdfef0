// Element types to lanes: f16, bf16, f8, small integers and bool to float, the rest to double.
// Block by block into a buffer that stays in L1, so that two sweeps (float, double) serve every dtype.
#pragma once

#include <smdebug/reduce/wide_sum.hpp>
#include <smdebug/tensor/half.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

using smdebug::detail::half_to_float;

/// A bf16 is the upper half of an f32.
template <class Tag>
[[nodiscard]] constexpr float bfloat_to_float(std::uint16_t half) noexcept {
    return std::bit_cast<float>(std::uint32_t{half} << 16U);
}

/// |re + i im| without overflow of the squares; NaN where either part is NaN.  At most 2 units in the last place off.
/// Own code rather than std::hypot: the same bits with every instruction set and C library.
template <class Tag>
[[nodiscard]] inline double complex_magnitude(double re, double im) noexcept {
    const double a = magnitude<Tag>(re);
    const double b = magnitude<Tag>(im);
    const double larger = a > b ? a : b;
    const double up = larger > 0x1p400 ? 0x1p-600 : (larger < 0x1p-400 ? 0x1p600 : 1.0);
    const double x = a * up;
    const double y = b * up;
    const double root = std::sqrt(rounded<Tag>(x * x) + rounded<Tag>(y * y));
    return up == 1.0 ? root : root * (1.0 / up);
}

/// Integers that widen to floats, exactly.
template <class Integer>
concept narrow_integer = std::integral<Integer> && sizeof(Integer) <= 2;
/// To doubles, exactly.
template <class Integer>
concept word_integer = std::integral<Integer> && sizeof(Integer) == 4;
/// To doubles, rounded.
template <class Integer>
concept long_integer = std::integral<Integer> && sizeof(Integer) == 8;

// Conversions of one element, as types, so that one loop serves them all.  `scale` is 1 except for f64 and complex128,
// whose squares may leave the range of a double (see reduce_tensor.hpp).
struct from_half {
    using element = std::uint16_t;
    using lane = float;
    template <class Tag>
    [[nodiscard]] static float convert(element value, double /*scale*/) noexcept {
        return half_to_float<Tag>(value);
    }
};

struct from_bfloat {
    using element = std::uint16_t;
    using lane = float;
    template <class Tag>
    [[nodiscard]] static float convert(element value, double /*scale*/) noexcept {
        return bfloat_to_float<Tag>(value);
    }
};

/// By a table of 256 floats, 1 KiB, which stays in L1.
template <smdebug::detail::float8_layout Layout>
struct from_float8 {
    using element = std::uint8_t;
    using lane = float;
    template <class Tag>
    [[nodiscard]] static float convert(element value, double /*scale*/) noexcept {
        // Not values_of_float8: symbols that a kernel's file offers the linker carry its Tag.
        static constexpr std::array<float, 256> values = smdebug::detail::float8_values(Layout);
        return values[value];
    }
};

/// Any byte but 0 is true.
struct from_bool {
    using element = std::uint8_t;
    using lane = float;
    template <class Tag>
    [[nodiscard]] static float convert(element value, double /*scale*/) noexcept {
        return value != 0 ? 1.0F : 0.0F;
    }
};

template <class Integer, class Lane>
struct from_integer {
    using element = Integer;
    using lane = Lane;
    template <class Tag>
    [[nodiscard]] static Lane convert(element value, double /*scale*/) noexcept {
        return static_cast<Lane>(value);
    }
};

struct from_double {
    using element = double;
    using lane = double;
    template <class Tag>
    [[nodiscard]] static double convert(element value, double scale) noexcept {
        return value * scale;
    }
};

template <class Real>
struct from_complex {
    using element = std::array<Real, 2>;
    using lane = double;
    template <class Tag>
    [[nodiscard]] static double convert(element value, double scale) noexcept {
        return complex_magnitude<Tag>(static_cast<double>(value[0]) * scale, static_cast<double>(value[1]) * scale);
    }
};

template <class Element>
struct conversion_of_element {
    using type = from_integer<Element, std::conditional_t<(sizeof(Element) > 2), double, float>>;
};
template <>
struct conversion_of_element<float16> {
    using type = from_half;
};
template <>
struct conversion_of_element<bfloat16> {
    using type = from_bfloat;
};
template <>
struct conversion_of_element<float8_e4m3fn> {
    using type = from_float8<smdebug::detail::e4m3fn>;
};
template <>
struct conversion_of_element<float8_e5m2> {
    using type = from_float8<smdebug::detail::e5m2>;
};
template <>
struct conversion_of_element<bool> {
    using type = from_bool;
};
template <>
struct conversion_of_element<double> {
    using type = from_double;
};
template <class Real>
struct conversion_of_element<std::complex<Real>> {
    using type = from_complex<Real>;
};
/// The conversion for elements of type Element; integers of up to 16 bits to floats.
template <class Element>
using conversion_of = typename conversion_of_element<Element>::type;

/// Widens `count` elements at any alignment, one at a time.  `simd_widen` does the same with vectors.
template <class Tag, class Conversion>
inline void widen(const std::byte* from, std::size_t count, double scale, typename Conversion::lane* to) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        typename Conversion::element element;
        std::memcpy(&element, from + i * sizeof(element), sizeof(element));
        to[i] = Conversion::template convert<Tag>(element, scale);
    }
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
