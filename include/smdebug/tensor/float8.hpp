// The two 8-bit floats that tensors hold, as ml_dtypes, safetensors and PyTorch have them.
// Storage types, as those of half.hpp: each has 256 values, all of which are floats, so arithmetic happens in float.
#pragma once

#include <smdebug/tensor/half.hpp>

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// How an 8-bit float is laid out, and what comes of numbers beyond its range.
struct float8_layout {
    unsigned fraction_bits;
    unsigned bias;
    std::uint32_t first_beyond;  ///< bits of the least positive float that rounds beyond the largest finite number
    std::uint8_t beyond;         ///< the code of what is beyond: an infinity, or NaN where the type has none
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

/// 1 sign, 4 exponent, 3 fraction bits; up to 448, down to 2^-9.  There are no infinities; NaN is 0x7f and 0xff.
/// Converts to float by itself and exactly; conversion from float or double is explicit and rounds once, to nearest,
/// ties to even.  What rounds beyond 448, and infinity, becomes NaN with its sign: it does not saturate.
struct float8_e4m3fn {
    std::uint8_t bits;

    float8_e4m3fn() = default;
    explicit constexpr float8_e4m3fn(float value) noexcept : bits(detail::float_to_float8<detail::e4m3fn>(value)) {}
    explicit constexpr float8_e4m3fn(double value) noexcept : float8_e4m3fn(detail::odd_float(value)) {}
    explicit constexpr float8_e4m3fn(std::integral auto value) noexcept : float8_e4m3fn(static_cast<double>(value)) {}

    [[nodiscard]] static constexpr float8_e4m3fn from_bits(std::uint8_t bits) noexcept {
        float8_e4m3fn number{0.0F};
        number.bits = bits;
        return number;
    }

    constexpr operator float() const noexcept {  // NOLINT: exact, so implicit
        return detail::values_of_float8<detail::e4m3fn>[bits];
    }
};

/// The upper half of an IEEE binary16: 1 sign, 5 exponent, 2 fraction bits; up to 57344, down to 2^-16; infinities.
/// Conversions as for float8_e4m3fn, but what rounds beyond 57344 becomes infinite.
struct float8_e5m2 {
    std::uint8_t bits;

    float8_e5m2() = default;
    explicit constexpr float8_e5m2(float value) noexcept : bits(detail::float_to_float8<detail::e5m2>(value)) {}
    explicit constexpr float8_e5m2(double value) noexcept : float8_e5m2(detail::odd_float(value)) {}
    explicit constexpr float8_e5m2(std::integral auto value) noexcept : float8_e5m2(static_cast<double>(value)) {}

    [[nodiscard]] static constexpr float8_e5m2 from_bits(std::uint8_t bits) noexcept {
        float8_e5m2 number{0.0F};
        number.bits = bits;
        return number;
    }

    constexpr operator float() const noexcept {  // NOLINT: exact, so implicit
        return detail::values_of_float8<detail::e5m2>[bits];
    }
};

static_assert(sizeof(float8_e4m3fn) == 1 && sizeof(float8_e5m2) == 1);

namespace detail {

template <class T>
concept float8 = std::same_as<T, float8_e4m3fn> || std::same_as<T, float8_e5m2>;

/// The floats narrower than C++'s own, which convert to float exactly.
template <class T>
concept narrow_float = std::same_as<T, float16> || std::same_as<T, bfloat16> || float8<T>;

}  // namespace detail

}  // namespace v1
}  // namespace smdebug
