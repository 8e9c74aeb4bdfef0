#include <smdebug/tensor/half.hpp>

#include "support/test.hpp"

using smdebug::bfloat16;
using smdebug::float16;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// What binary16 means, from its definition.
double half_by_definition(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 0x1f;
    const int fraction = bits & 0x3ff;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    if (exponent == 0x1f) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * static_cast<double>(infinity);
    }
    return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// The nearest 16-bit float to `value`, ties to even, by looking at the two neighbours of a first guess.  Magnitudes
/// are in order of their bits.
template <class Half>
std::uint16_t nearest_by_search(double value, std::uint16_t infinity_bits) {
    const auto sign = static_cast<std::uint16_t>(__builtin_signbit(value) ? 0x8000 : 0);
    const double magnitude = std::abs(value);
    std::uint16_t low = 0;
    std::uint16_t high = infinity_bits;
    while (high - low > 1) {
        const auto middle = static_cast<std::uint16_t>((low + high) / 2);
        (static_cast<double>(static_cast<float>(Half::from_bits(middle))) <= magnitude ? low : high) = middle;
    }
    const double below = static_cast<float>(Half::from_bits(low));
    // the number after the largest one, where rounding takes infinity to lie
    const double before = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(low - (low > 0 ? 1 : 0))));
    const double above = high == infinity_bits ? below + (below - before) : static_cast<float>(Half::from_bits(high));
    const double to_below = magnitude - below;
    const double to_above = above - magnitude;
    const bool up = to_above < to_below || (to_above == to_below && (low & 1) != 0);
    return static_cast<std::uint16_t>(sign | (up ? high : low));
}

template <class Half>
void check_rounding(std::uint16_t infinity_bits) {
    std::mt19937_64 random{7};
    for (int i = 0; i < 200000; ++i) {
        const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
        if (!std::isfinite(value)) {
            continue;
        }
        REQUIRE(Half{value}.bits == nearest_by_search<Half>(static_cast<double>(value), infinity_bits));
        const double wide = static_cast<double>(value) * (1 + std::ldexp(static_cast<double>(random() >> 40), -48));
        if (std::abs(wide) < static_cast<double>(std::numeric_limits<float>::max())) {
            REQUIRE(Half{wide}.bits == nearest_by_search<Half>(wide, infinity_bits));
        }
    }
    // exactly between two neighbours, and next to that
    for (std::uint32_t bits = 0; bits + 1 < infinity_bits; ++bits) {
        const double low = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits)));
        const double high = static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits + 1)));
        const double middle = (low + high) / 2;
        REQUIRE(Half{middle}.bits == bits + (bits & 1U));
        REQUIRE(Half{std::nextafter(middle, 0.0)}.bits == bits);
        REQUIRE(Half{std::nextafter(middle, high)}.bits == bits + 1);
        REQUIRE(Half{-middle}.bits == (0x8000U | (bits + (bits & 1U))));
    }
}

}  // namespace

static_assert(std::is_trivially_copyable_v<float16> && std::is_trivially_default_constructible_v<float16>);
static_assert(std::is_trivially_copyable_v<bfloat16> && std::is_trivially_default_constructible_v<bfloat16>);
static_assert(!std::is_convertible_v<float, float16> && !std::is_convertible_v<float, bfloat16>);
static_assert(float16{1.0F}.bits == 0x3c00 && float16{-2.0}.bits == 0xc000 && float16{65504}.bits == 0x7bff);
static_assert(float16{65520.0F}.bits == 0x7c00 && float16{65519.996F}.bits == 0x7bff);
static_assert(float16{0x1p-24F}.bits == 1 && float16{0x1p-25F}.bits == 0 && float16{0x1.8p-24F}.bits == 2);
static_assert(float16{-0.0F}.bits == 0x8000 && float16{1e300}.bits == 0x7c00 && float16{-1e300}.bits == 0xfc00);
static_assert(bfloat16{1.0F}.bits == 0x3f80 && bfloat16{-infinity}.bits == 0xff80);
static_assert(bfloat16{0x1.01p0F}.bits == 0x3f80 && bfloat16{0x1.03p0F}.bits == 0x3f82);  // ties to even
static_assert(bfloat16{0x1.01p0 + 0x1p-40}.bits == 0x3f81);  // a double rounds once, not through float
static_assert(bfloat16{std::numeric_limits<float>::max()}.bits == 0x7f80);
static_assert(float{float16::from_bits(0x3555)} == 0x1.554p-2F);

static_assert(smdebug::detail::nearest_float(0x1.ffffffp127) == infinity);
static_assert(smdebug::detail::nearest_float(-0x1.fffffefp127) == -std::numeric_limits<float>::max());
static_assert(smdebug::detail::nearest_float(1e300) == infinity && smdebug::detail::nearest_float(0.1) == 0.1F);

TEST_CASE("float16: all 65536 values convert to float exactly") {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const float converted = float16::from_bits(bits);
        const double wanted = half_by_definition(bits);
        if (std::isnan(wanted)) {
            REQUIRE(std::isnan(converted));
        } else {
            REQUIRE(static_cast<double>(converted) == wanted);
        }
        REQUIRE(__builtin_signbit(converted) == ((bits & 0x8000) != 0));
    }
}

TEST_CASE("float16: all 65536 values come back from float; NaNs as quiet ones") {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const bool nan = (bits & 0x7fff) > 0x7c00;
        REQUIRE(float16{float{float16::from_bits(bits)}}.bits == (nan ? (bits | 0x200) : bits));
    }
}

TEST_CASE("bfloat16: all 65536 values are the upper half of a float, and come back") {
    for (std::uint32_t i = 0; i < 65536; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        const bool nan = (bits & 0x7fff) > 0x7f80;
        const float converted = bfloat16::from_bits(bits);
        REQUIRE(std::isnan(converted) == nan);
        if (!nan) {
            REQUIRE(std::bit_cast<std::uint32_t>(converted) == i << 16);
        }
        REQUIRE(bfloat16{converted}.bits == (nan ? (bits | 0x40) : bits));
    }
}

TEST_CASE("float16: rounds floats and doubles to nearest, ties to even") { check_rounding<float16>(0x7c00); }

TEST_CASE("bfloat16: rounds floats and doubles to nearest, ties to even") { check_rounding<bfloat16>(0x7f80); }

TEST_CASE("half: a NaN stays a NaN, whatever its payload") {
    for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0xff800001U, 0x7fffffffU}) {
        const auto nan = std::bit_cast<float>(bits);
        CHECK(std::isnan(float{float16{nan}}));
        CHECK(std::isnan(float{bfloat16{nan}}));
        CHECK(std::isnan(float{float16{static_cast<double>(nan)}}));
    }
}

TEST_CASE("half: compares and computes as float") {
    CHECK(float16{1.5F} == float16{1.5F});
    CHECK(float16{0.0F} == float16{-0.0F});
    CHECK(float16{1.0F} < float16{2.0F});
    CHECK_FALSE(float16::from_bits(0x7e00) == float16::from_bits(0x7e00));  // NaN
    CHECK(bfloat16{1.0F} + bfloat16{2.0F} == 3.0F);
    CHECK(float16{3} * 2.0F == 6.0F);
    static_assert(std::is_same_v<decltype(float16{} + float16{}), float>);
}
