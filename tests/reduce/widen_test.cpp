#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/widen.hpp>

#include <smdebug/tensor/half.hpp>

#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

struct tag {};

/// What IEEE says an f16 is worth; 0 for infinities and NaN.
double worth(std::uint16_t half) {
    const int exponent = (half >> 10) & 31;
    const int fraction = half & 1023;
    const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -size : size;
}

}  // namespace

static_assert(half_to_float<tag>(0x3C00) == 1.0F);
static_assert(half_to_float<tag>(0x0001) == 0x1p-24F);
static_assert(bfloat_to_float<tag>(0x3F80) == 1.0F);

TEST_CASE("half_to_float: all 65536 of them") {
    for (unsigned i = 0; i < 65536; ++i) {
        const auto half = static_cast<std::uint16_t>(i);
        const float value = half_to_float<tag>(half);
        if ((half & 0x7C00) == 0x7C00) {
            const bool infinite = (half & 0x3FF) == 0;
            REQUIRE(smdebug::is_infinite(value) == infinite);
            REQUIRE(smdebug::is_nan(value) == !infinite);
        } else {
            REQUIRE(static_cast<double>(value) == worth(half));
        }
        REQUIRE((__builtin_signbit(value) != 0) == (half >= 0x8000));
    }
}

TEST_CASE("widen: any count, any alignment, nothing read beyond the end") {
    for (std::size_t count = 0; count < 50; ++count) {
        for (std::size_t offset = 0; offset < 4; ++offset) {
            std::vector<std::byte> bytes(offset + 2 * count);
            for (std::size_t i = 0; i < count; ++i) {
                const auto value = static_cast<std::int16_t>(700 * static_cast<int>(i) - 9000);
                std::memcpy(bytes.data() + offset + 2 * i, &value, 2);
            }
            std::vector<float> lanes(count + 1, -1.0F);
            widen<tag, from_integer<std::int16_t, float>>(bytes.data() + offset, count, 1, lanes.data());
            for (std::size_t i = 0; i < count; ++i) {
                CHECK(lanes[i] == static_cast<float>(700 * static_cast<int>(i) - 9000));
            }
            CHECK(lanes[count] == -1);
        }
    }
}

TEST_CASE("complex_magnitude: no overflow, no underflow, NaN from either part") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (const int scale : {0, 300, 500, 1018, -300, -500, -1020, -1070}) {
        const double one = std::ldexp(1.0, scale);
        CHECK(complex_magnitude<tag>(-3 * one, 4 * one) == 5 * one);
        CHECK(complex_magnitude<tag>(12 * one, 5 * one) == 13 * one);
    }
    CHECK(complex_magnitude<tag>(0, -0.0) == 0);
    CHECK(complex_magnitude<tag>(5e-324, 0) == 5e-324);
    CHECK(complex_magnitude<tag>(1e308, 1e308) == doctest::Approx(std::sqrt(2.0) * 1e308));
    CHECK(complex_magnitude<tag>(1e300, 1e-300) == 1e300);
    CHECK(complex_magnitude<tag>(-inf, 1) == inf);
    CHECK(smdebug::is_nan(complex_magnitude<tag>(nan, 1)));
    CHECK(smdebug::is_nan(complex_magnitude<tag>(1, nan)));
    CHECK(smdebug::is_nan(complex_magnitude<tag>(nan, inf)));
}

TEST_CASE("conversions: bools are 0 or 1, doubles take the scale") {
    CHECK(from_bool::convert<tag>(200, 1) == 1);
    CHECK(from_bool::convert<tag>(0, 1) == 0);
    CHECK(from_double::convert<tag>(3, 0x1p-600) == 3 * 0x1p-600);
    CHECK(from_complex<double>::convert<tag>({3e300, 4e300}, 0x1p-600) == doctest::Approx(std::ldexp(5e300, -600)));
    CHECK(from_integer<std::uint64_t, double>::convert<tag>(std::numeric_limits<std::uint64_t>::max(), 1) == 0x1p64);
}

// Two pieces of code on purpose: the kernels' has no branch and carries its caller's instruction set in its name.
TEST_CASE("widen: every 8-bit float becomes the float that the tensor types make of it") {
    using namespace smdebug::reduce::detail;
    for (unsigned bits = 0; bits < 256; ++bits) {
        const auto code = static_cast<std::uint8_t>(bits);
        const float small = smdebug::float8_e4m3fn::from_bits(code);
        const float large = smdebug::float8_e5m2::from_bits(code);
        const float small_by_kernel = conversion_of<smdebug::float8_e4m3fn>::convert<void>(code, 1);
        const float large_by_kernel = conversion_of<smdebug::float8_e5m2>::convert<void>(code, 1);
        CHECK(std::bit_cast<std::uint32_t>(small_by_kernel) == std::bit_cast<std::uint32_t>(small));
        CHECK(std::bit_cast<std::uint32_t>(large_by_kernel) == std::bit_cast<std::uint32_t>(large));
    }
}

TEST_CASE("widen: every half and bfloat16 becomes the float that the tensor types make of it") {
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        const float by_kernel = smdebug::reduce::detail::half_to_float<void>(half);
        const float by_type = smdebug::float16::from_bits(half);
        const float brain_by_kernel = smdebug::reduce::detail::bfloat_to_float<void>(half);
        const float brain_by_type = smdebug::bfloat16::from_bits(half);
        if (std::bit_cast<std::uint32_t>(by_kernel) != std::bit_cast<std::uint32_t>(by_type) ||
            std::bit_cast<std::uint32_t>(brain_by_kernel) != std::bit_cast<std::uint32_t>(brain_by_type)) {
            FAIL_CHECK("differs at bits " << bits);
        }
    }
}
