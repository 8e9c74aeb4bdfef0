#include <smdebug/tensor/half.hpp>

#include "support/test.hpp"

using smdebug::float8_e4m3fn;
using smdebug::float8_e5m2;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// What a type is, from its definition; independent of float8_layout.
struct definition {
    int exponent_bits;
    bool has_infinity;
    std::uint8_t largest;  ///< the code of the largest finite number

    [[nodiscard]] double value(std::uint8_t code) const {
        const int fraction_bits = 7 - exponent_bits;
        const int bias = (1 << (exponent_bits - 1)) - 1;
        const int exponent = (code & 0x7f) >> fraction_bits;
        const int fraction = code & ((1 << fraction_bits) - 1);
        const double sign = (code & 0x80) != 0 ? -1 : 1;
        if ((code & 0x7f) > largest) {
            return has_infinity && fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                                                 : std::numeric_limits<double>::quiet_NaN();
        }
        return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias - fraction_bits)
                             : sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
    }
    /// The nearest code by trying all of them; ties to the even one.  The code after the largest counts as the number
    /// that would follow it, were the range not to end.
    [[nodiscard]] std::uint8_t nearest(double wanted) const {
        const double magnitude = std::abs(wanted);
        const double step = value(largest) - value(static_cast<std::uint8_t>(largest - 1));
        int best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (int code = 0; code <= largest + 1; ++code) {
            const double each = code > largest ? value(largest) + step : value(static_cast<std::uint8_t>(code));
            const double apart = std::abs(each - magnitude);
            if (apart < least || (apart == least && code % 2 == 0)) {
                best = code;
                least = apart;
            }
        }
        return static_cast<std::uint8_t>(best | (__builtin_signbit(wanted) ? 0x80 : 0));
    }
};
constexpr definition e4m3fn{4, false, 0x7e};
constexpr definition e5m2{5, true, 0x7b};

template <class Float8>
void check_values(const definition& defined) {
    for (unsigned i = 0; i < 256; ++i) {
        CAPTURE(i);
        const auto code = static_cast<std::uint8_t>(i);
        const float value = Float8::from_bits(code);
        const double wanted = defined.value(code);
        CHECK(std::isnan(value) == std::isnan(wanted));
        CHECK((std::isnan(value) || static_cast<double>(value) == wanted));
        CHECK(__builtin_signbit(value) == ((i & 0x80) != 0));
        if (!std::isnan(value)) {
            CHECK(Float8{value}.bits == code);
            CHECK(Float8{wanted}.bits == code);
        }
    }
}

template <class Float8>
void check_rounding(const definition& defined) {
    std::mt19937_64 random{8};
    for (int i = 0; i < 20000; ++i) {
        // Magnitudes around the type's range; any float now and then.
        const auto bits = static_cast<std::uint32_t>(random());
        const float value = i % 8 == 0 ? std::bit_cast<float>(bits)
                                       : std::ldexp(1 + std::ldexp(static_cast<float>(bits >> 9), -23),
                                                    static_cast<int>(random() % 40) - 22) *
                                             ((bits & 1U) != 0 ? -1.0F : 1.0F);
        if (!std::isfinite(value) || std::abs(value) > 1e6F) {
            continue;
        }
        REQUIRE(Float8{value}.bits == defined.nearest(static_cast<double>(value)));
        const double wide = static_cast<double>(value) * (1 + std::ldexp(static_cast<double>(random() >> 40), -48));
        REQUIRE(Float8{wide}.bits == defined.nearest(wide));
    }
    // Exactly between two neighbours, and next to that; beyond the largest one, too.
    for (int code = 0; code <= defined.largest; ++code) {
        const double low = defined.value(static_cast<std::uint8_t>(code));
        const double high = code < defined.largest ? defined.value(static_cast<std::uint8_t>(code + 1))
                                                   : 2 * low - defined.value(static_cast<std::uint8_t>(code - 1));
        const double middle = (low + high) / 2;
        CAPTURE(code);
        CHECK(Float8{middle}.bits == code + (code & 1));
        CHECK(Float8{static_cast<float>(middle)}.bits == code + (code & 1));
        CHECK(Float8{-middle}.bits == (0x80 | (code + (code & 1))));
        CHECK(Float8{std::nextafter(middle, 0.0)}.bits == code);
        CHECK(Float8{std::nextafter(middle, high)}.bits == code + 1);
    }
}

}  // namespace

static_assert(std::is_trivially_copyable_v<float8_e4m3fn> && std::is_trivially_default_constructible_v<float8_e4m3fn>);
static_assert(std::is_trivially_copyable_v<float8_e5m2> && std::is_trivially_default_constructible_v<float8_e5m2>);
static_assert(!std::is_convertible_v<float, float8_e4m3fn> && !std::is_convertible_v<float, float8_e5m2>);
static_assert(smdebug::detail::narrow_float<float8_e5m2> && smdebug::detail::narrow_float<smdebug::bfloat16>);
static_assert(!smdebug::detail::float8<smdebug::float16> && !smdebug::detail::narrow_float<float>);

// Worked out by hand.
static_assert(float8_e4m3fn{1.0F}.bits == 0x38 && float8_e4m3fn{-2}.bits == 0xc0 && float8_e4m3fn{448}.bits == 0x7e);
static_assert(float8_e4m3fn{464.0}.bits == 0x7e && float8_e4m3fn{464.1}.bits == 0x7f &&
              float8_e4m3fn{1e9}.bits == 0x7f);
static_assert(float8_e4m3fn{infinity}.bits == 0x7f && float8_e4m3fn{-infinity}.bits == 0xff);
static_assert(float8_e4m3fn{0x1p-9}.bits == 1 && float8_e4m3fn{0x1p-10}.bits == 0 && float8_e4m3fn{-0.0}.bits == 0x80);
static_assert(float8_e5m2{1.0F}.bits == 0x3c && float8_e5m2{-2}.bits == 0xc0 && float8_e5m2{57344}.bits == 0x7b);
static_assert(float8_e5m2{61439}.bits == 0x7b && float8_e5m2{61440}.bits == 0x7c && float8_e5m2{-1e300}.bits == 0xfc);
static_assert(float8_e5m2{infinity}.bits == 0x7c && float8_e5m2{0x1p-16}.bits == 1 && float8_e5m2{0x1p-17}.bits == 0);
static_assert(float{float8_e4m3fn::from_bits(0x2b)} == 0.34375F && float{float8_e5m2::from_bits(0x2b)} == 0.0546875F);

TEST_CASE("float8: all 256 values of each type convert to float exactly, and come back") {
    check_values<float8_e4m3fn>(e4m3fn);
    check_values<float8_e5m2>(e5m2);
}

TEST_CASE("float8: rounds floats and doubles to nearest, ties to even; beyond the range to NaN or infinity") {
    check_rounding<float8_e4m3fn>(e4m3fn);
    check_rounding<float8_e5m2>(e5m2);
}

TEST_CASE("float8_e5m2: a value is the upper half of a binary16") {
    for (unsigned code = 0; code < 256; ++code) {
        const float value = float8_e5m2::from_bits(static_cast<std::uint8_t>(code));
        const float half = smdebug::float16::from_bits(static_cast<std::uint16_t>(code << 8));
        CHECK(std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(half));
    }
}

TEST_CASE("float8: a NaN stays a NaN of its sign, whatever its payload") {
    for (const std::uint32_t bits : {0x7f800001U, 0x7fc00000U, 0xff800001U, 0x7fffffffU}) {
        const auto nan = std::bit_cast<float>(bits);
        const unsigned sign = bits >> 31 << 7;
        CHECK(float8_e4m3fn{nan}.bits == (sign | 0x7f));
        CHECK((float8_e5m2{nan}.bits & 0xfeU) == (sign | 0x7e));
        CHECK(std::isnan(float{float8_e4m3fn{static_cast<double>(nan)}}));
        CHECK(std::isnan(float{float8_e5m2{static_cast<double>(nan)}}));
    }
}

TEST_CASE("float8: compares and computes as float") {
    CHECK(float8_e4m3fn{0.0F} == float8_e4m3fn{-0.0F});
    CHECK(float8_e5m2{1.0F} < float8_e5m2{2.0F});
    CHECK_FALSE(float8_e4m3fn::from_bits(0x7f) == float8_e4m3fn::from_bits(0x7f));  // NaN
    CHECK(float8_e4m3fn{448} * 2.0F == 896.0F);
    static_assert(std::is_same_v<decltype(float8_e5m2{} + float8_e5m2{}), float>);
}
