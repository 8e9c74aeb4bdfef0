// The two 16-bit floats that tensors hold: IEEE binary16 and bfloat16.  Storage types: arithmetic happens in float.
// The standard library has neither before C++23, and the compiler's own differ.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace smdebug {
inline namespace v1 {
namespace detail {

inline constexpr float max_float = std::numeric_limits<float>::max();
inline constexpr float float_infinity = std::numeric_limits<float>::infinity();

/// Adds to `bits`, of which the lowest `shift` are to be dropped, what rounds the rest to nearest, ties to even.
[[nodiscard]] constexpr std::uint32_t round_to_even(std::uint32_t bits, unsigned shift) noexcept {
    return (bits + ((1U << (shift - 1)) - 1) + ((bits >> shift) & 1U)) >> shift;
}

/// The nearest float, ties to even, infinity beyond the range; a plain cast leaves the latter undefined.
[[nodiscard]] constexpr float nearest_float(double value) noexcept {
    constexpr double first_infinite = 0x1.ffffffp127;  // halfway from the largest float to the next power of two
    if (value > max_float) {
        return value >= first_infinite ? float_infinity : max_float;
    }
    if (value < -max_float) {
        return value <= -first_infinite ? -float_infinity : -max_float;
    }
    return static_cast<float>(value);
}

/// The float from which rounding on to 16 or 8 bits gives what rounding `value` at once would: where `value` is no
/// float, the one of its two neighbours whose last bit is set.
[[nodiscard]] constexpr float odd_float(double value) noexcept {
    if (value > max_float || value < -max_float) {
        return value > 0 ? float_infinity : -float_infinity;  // all of these types end below max_float
    }
    const auto nearest = static_cast<float>(value);
    const double back = nearest;
    const auto bits = std::bit_cast<std::uint32_t>(nearest);
    if (back == value || value != value || (bits & 1U) != 0) {
        return nearest;
    }
    const bool too_small = (back < 0 ? -back : back) < (value < 0 ? -value : value);
    return std::bit_cast<float>(too_small ? bits + 1 : bits - 1);
}

/// binary16 to binary32; exact, NaN payloads included.
[[nodiscard]] constexpr float half_to_float(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000U) << 16;
    const std::uint32_t exponent = (half >> 10) & 0x1fU;
    const std::uint32_t fraction = half & 0x3ffU;
    if (exponent == 0) {  // zero and denormals: a multiple of 2^-24, which every float can say
        const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
        return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
    }
    const std::uint32_t wide = exponent == 0x1f ? 0xffU : exponent + (127 - 15);
    return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

/// binary32 to binary16; to nearest, ties to even; a NaN stays one and becomes quiet.
[[nodiscard]] constexpr std::uint16_t float_to_half(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {  // NaN
        return static_cast<std::uint16_t>(sign | 0x7e00U | ((magnitude >> 13) & 0x3ffU));
    }
    if (magnitude >= 0x477ff000U) {  // 65520, halfway from the largest half to the next power of two, and beyond
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    }
    if (magnitude < 0x38800000U) {  // below 2^-14, the smallest normal half: count in units of 2^-24
        const std::uint32_t exponent = magnitude >> 23;
        const std::uint32_t fraction = (magnitude & 0x7fffffU) | 0x800000U;
        const std::uint32_t units = exponent < 102 ? 0 : round_to_even(fraction, 126 - exponent);
        return static_cast<std::uint16_t>(sign | units);
    }
    return static_cast<std::uint16_t>(sign | round_to_even(magnitude - (112U << 23), 13));
}

/// binary32 to bfloat16; as float_to_half.
[[nodiscard]] constexpr std::uint16_t float_to_bfloat(float value) noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {  // NaN
        return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
    }
    return static_cast<std::uint16_t>(round_to_even(bits, 16));
}

}  // namespace detail

/// IEEE binary16 ("half"): 1 sign, 5 exponent, 10 fraction bits; up to 65504.
/// Converts to float by itself and exactly, so comparisons and arithmetic are those of float; conversion from float or
/// double is explicit and rounds once, to nearest, ties to even.
struct float16 {
    std::uint16_t bits;

    float16() = default;
    explicit constexpr float16(float value) noexcept : bits(detail::float_to_half(value)) {}
    explicit constexpr float16(double value) noexcept : float16(detail::odd_float(value)) {}
    explicit constexpr float16(std::integral auto value) noexcept : float16(static_cast<double>(value)) {}

    [[nodiscard]] static constexpr float16 from_bits(std::uint16_t bits) noexcept {
        float16 half{0.0F};
        half.bits = bits;
        return half;
    }

    constexpr operator float() const noexcept { return detail::half_to_float(bits); }  // NOLINT: exact, so implicit
};

/// bfloat16: the upper half of a float; its range, 8 bits of precision.  Conversions as for float16.
struct bfloat16 {
    std::uint16_t bits;

    bfloat16() = default;
    explicit constexpr bfloat16(float value) noexcept : bits(detail::float_to_bfloat(value)) {}
    explicit constexpr bfloat16(double value) noexcept : bfloat16(detail::odd_float(value)) {}
    explicit constexpr bfloat16(std::integral auto value) noexcept : bfloat16(static_cast<double>(value)) {}

    [[nodiscard]] static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
        bfloat16 half{0.0F};
        half.bits = bits;
        return half;
    }

    constexpr operator float() const noexcept {  // NOLINT: exact, so implicit
        return std::bit_cast<float>(std::uint32_t{bits} << 16);
    }
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);

}  // namespace v1
}  // namespace smdebug
