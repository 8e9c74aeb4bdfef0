// The 16-bit and 8-bit floats of tensors: IEEE binary16, bfloat16, float8_e4m3fn and float8_e5m2.  Storage types:
// arithmetic happens in float.  The standard library has no 16-bit floats before C++23 and no 8-bit ones at all, and
// those of the compilers differ.
#pragma once

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {
namespace detail {

inline constexpr float max_float = std::numeric_limits<float>::max();
inline constexpr float float_infinity = std::numeric_limits<float>::infinity();

/// Adds to `bits`, whose lowest `shift` bits will be dropped, the amount that rounds to nearest, ties to even.
[[nodiscard]] constexpr std::uint32_t round_to_even(std::uint32_t bits, unsigned shift) noexcept {
    return (bits + ((1U << (shift - 1)) - 1) + ((bits >> shift) & 1U)) >> shift;
}

/// The nearest float, ties to even, infinity beyond the range; a plain cast leaves the latter undefined.
[[nodiscard]] constexpr float nearest_float(double value) noexcept {
    constexpr double first_infinite = 0x1.ffffffp127;  // halfway from the largest float to the next power of two
    if (value > static_cast<double>(max_float)) {
        return value >= first_infinite ? float_infinity : max_float;
    }
    if (value < -static_cast<double>(max_float)) {
        return value <= -first_infinite ? -float_infinity : -max_float;
    }
    return static_cast<float>(value);
}

/// The float from which rounding on to 16 or 8 bits gives what rounding `value` at once would: if `value` is not a
/// float, the neighbour whose last bit is set.
[[nodiscard]] constexpr float odd_float(double value) noexcept {
    if (value > static_cast<double>(max_float) || value < -static_cast<double>(max_float)) {
        return value > 0 ? float_infinity : -float_infinity;  // all of these types end below max_float
    }
    const auto nearest = static_cast<float>(value);
    const auto back = static_cast<double>(nearest);
    const auto bits = std::bit_cast<std::uint32_t>(nearest);
    if (back == value || value != value || (bits & 1U) != 0) {
        return nearest;
    }
    const bool too_small = (back < 0 ? -back : back) < (value < 0 ? -value : value);
    return std::bit_cast<float>(too_small ? bits + 1 : bits - 1);
}

/// binary16 to binary32; exact, NaN payloads included.  Bit arithmetic without a branch or a denormal binary32.
/// `Tag` keeps the copies of files apart that are compiled for other instruction sets.
template <class Tag = void>
[[nodiscard]] constexpr float half_to_float(std::uint16_t half) noexcept {
    const std::uint32_t sign = (half & 0x8000U) << 16U;
    const std::uint32_t rest = (half & 0x7FFFU) << 13U;
    const std::uint32_t normal = rest + (112U << 23U);
    const std::uint32_t special = rest + (224U << 23U);
    const float denormal = std::bit_cast<float>(rest + (113U << 23U)) - 0x1p-14F;
    std::uint32_t bits = rest >= (31U << 23U) ? special : normal;
    bits = rest < (1U << 23U) ? std::bit_cast<std::uint32_t>(denormal) : bits;
    return std::bit_cast<float>(bits | sign);
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

// The two 8-bit floats of tensors, as in ml_dtypes, safetensors and PyTorch.
// Each has 256 values, all of which are floats.
namespace detail {

/// The layout of an 8-bit float, and the result for numbers beyond its range.
struct float8_layout {
    unsigned fraction_bits;
    unsigned bias;
    std::uint32_t first_beyond;  ///< bits of the least positive float that rounds beyond the largest finite number
    std::uint8_t beyond;         ///< the code beyond that: infinity, or NaN if the type has none
    std::uint8_t quiet_nan;
};
/// Up to 448.  464 lies halfway to 480, whose code is that of NaN: the tie goes to the even 448, all above it to NaN.
inline constexpr float8_layout e4m3fn{3, 7, std::bit_cast<std::uint32_t>(464.0F) + 1, 0x7f, 0x7f};
/// Up to 57344.  61440 lies halfway to 65536: the tie goes to the even one, which is infinity.
inline constexpr float8_layout e5m2{2, 15, std::bit_cast<std::uint32_t>(61440.0F), 0x7c, 0x7e};

/// binary32 to 8 bits; to nearest, ties to even; a NaN stays one and becomes quiet.
template <float8_layout Layout>
[[nodiscard]] constexpr std::uint8_t float_to_float8(float value) noexcept {
    constexpr unsigned dropped = 23 - Layout.fraction_bits;
    constexpr std::uint32_t least_normal = (128 - Layout.bias) << 23U;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 24U) & 0x80U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) {  // NaN
        const std::uint32_t payload = (magnitude >> dropped) & ((1U << Layout.fraction_bits) - 1);
        return static_cast<std::uint8_t>(sign | Layout.quiet_nan | payload);
    }
    if (magnitude >= Layout.first_beyond) {
        return static_cast<std::uint8_t>(sign | Layout.beyond);
    }
    if (magnitude < least_normal) {  // count in units of the least denormal
        const std::uint32_t shift = 151 - Layout.bias - Layout.fraction_bits - (magnitude >> 23U);
        const std::uint32_t fraction = (magnitude & 0x7fffffU) | 0x800000U;
        return static_cast<std::uint8_t>(sign | (shift > 24 ? 0 : round_to_even(fraction, shift)));
    }
    return static_cast<std::uint8_t>(sign | round_to_even(magnitude - ((127 - Layout.bias) << 23U), dropped));
}

/// The 256 values by code.
[[nodiscard]] constexpr std::array<float, 256> float8_values(float8_layout layout) noexcept {
    std::array<float, 256> values{};
    for (std::uint32_t code = 0; code < 256; ++code) {
        const std::uint32_t sign = (code & 0x80U) << 24U;
        const std::uint32_t magnitude = code & 0x7fU;
        const std::uint32_t fraction = magnitude << (23 - layout.fraction_bits);
        std::uint32_t bits = fraction + ((127 - layout.bias) << 23U);
        if (magnitude >> layout.fraction_bits == 0) {  // zero and denormals: a multiple of a power of two
            const std::uint32_t unit = (128 - layout.bias - layout.fraction_bits) << 23U;
            bits = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * std::bit_cast<float>(unit));
        } else if (magnitude >= layout.beyond) {  // infinity and NaN, whose fraction is kept
            bits = 0x7f800000U | (fraction & 0x7fffffU);
        }
        values[code] = std::bit_cast<float>(bits | sign);
    }
    return values;
}

template <float8_layout Layout>
inline constexpr std::array<float, 256> values_of_float8 = float8_values(Layout);

}  // namespace detail

namespace detail {

/// What the narrow floats share: Self is stored as Bits, which Rounded gives for a float, and Widened makes a float of.
/// Converts to float by itself and exactly, so comparisons and arithmetic are those of float; conversion from float or
/// double is explicit and rounds once, to nearest, ties to even.
template <class Self, class Bits, auto Rounded, auto Widened>
struct stored_float {
    Bits bits;

    stored_float() = default;
    explicit constexpr stored_float(float value) noexcept : bits(Rounded(value)) {}
    explicit constexpr stored_float(double value) noexcept : stored_float(odd_float(value)) {}
    explicit constexpr stored_float(std::integral auto value) noexcept : stored_float(static_cast<double>(value)) {}

    [[nodiscard]] static constexpr Self from_bits(Bits bits) noexcept {
        Self number{0.0F};
        number.bits = bits;
        return number;
    }

    constexpr operator float() const noexcept { return Widened(bits); }  // NOLINT: exact, so implicit
};

/// A bfloat16 is the upper half of a float.
[[nodiscard]] constexpr float bfloat_to_float(std::uint16_t half) noexcept {
    return std::bit_cast<float>(std::uint32_t{half} << 16);
}

template <float8_layout Layout>
[[nodiscard]] constexpr float float8_to_float(std::uint8_t code) noexcept {
    return values_of_float8<Layout>[code];
}

}  // namespace detail

/// IEEE binary16 ("half"): 1 sign, 5 exponent, 10 fraction bits; up to 65504.
struct float16 : detail::stored_float<float16, std::uint16_t, detail::float_to_half, detail::half_to_float<>> {
    using stored_float::stored_float;
};

/// The upper half of a float; its range, 8 bits of precision.
struct bfloat16 : detail::stored_float<bfloat16, std::uint16_t, detail::float_to_bfloat, detail::bfloat_to_float> {
    using stored_float::stored_float;
};

/// 1 sign, 4 exponent, 3 fraction bits; up to 448, down to 2^-9.  There are no infinities; NaN is 0x7f and 0xff.  What
/// rounds beyond 448, and infinity, becomes NaN with its sign: it does not saturate.
struct float8_e4m3fn : detail::stored_float<float8_e4m3fn, std::uint8_t, detail::float_to_float8<detail::e4m3fn>,
                                            detail::float8_to_float<detail::e4m3fn>> {
    using stored_float::stored_float;
};

/// The upper half of an IEEE binary16: 1 sign, 5 exponent, 2 fraction bits; up to 57344, down to 2^-16; infinities.
/// What rounds beyond 57344 becomes infinite.
struct float8_e5m2 : detail::stored_float<float8_e5m2, std::uint8_t, detail::float_to_float8<detail::e5m2>,
                                          detail::float8_to_float<detail::e5m2>> {
    using stored_float::stored_float;
};

static_assert(sizeof(float16) == 2 && sizeof(bfloat16) == 2);
static_assert(sizeof(float8_e4m3fn) == 1 && sizeof(float8_e5m2) == 1);

namespace detail {

template <class Element>
concept float8 = std::same_as<Element, float8_e4m3fn> || std::same_as<Element, float8_e5m2>;

/// The floats narrower than C++'s own, which convert to float exactly.
template <class Element>
concept narrow_float = std::same_as<Element, float16> || std::same_as<Element, bfloat16> || float8<Element>;

}  // namespace detail

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
