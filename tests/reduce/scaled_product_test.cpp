#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/wide_sum.hpp>

#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {
struct tag {};
}  // namespace

TEST_CASE("scaled: a mantissa from 1 to 2 and an exponent, for every finite number") {
    for (const double value : {1.0, -1.0, 1.5, -0.3, 1e300, -1e-300, 5e-324, 1.7976931348623157e308, 2.5e-310}) {
        const scaled_product product = scaled<tag>(value);
        CHECK(std::abs(product.mantissa) >= 1);
        CHECK(std::abs(product.mantissa) < 2);
        CHECK(value_of<tag>(product) == value);
    }
    CHECK(scaled<tag>(0.0).mantissa == 0);
    CHECK(scaled<tag>(infinity).mantissa == infinity);
    CHECK(smdebug::is_nan(scaled<tag>(not_a_number).mantissa));
}

TEST_CASE("times: no overflow on the way, and back into the range at the end") {
    scaled_product product;
    for (int i = 0; i < 20; ++i) {
        product = times<tag>(product, scaled<tag>(1e300));
    }
    CHECK(value_of<tag>(product) == infinity);
    for (int i = 0; i < 20; ++i) {
        product = times<tag>(product, scaled<tag>(-1e-300));
    }
    CHECK(value_of<tag>(product) == doctest::Approx(1));
    CHECK(times<tag>(product, scaled<tag>(0.0)).mantissa == 0);
    CHECK(smdebug::is_nan(times<tag>(scaled<tag>(0.0), scaled<tag>(infinity)).mantissa));
    CHECK(times<tag>(scaled<tag>(-2.0), scaled<tag>(infinity)).mantissa == -infinity);
}

TEST_CASE("limited: beyond 2^+-16384 a product is infinite or 0, with its sign") {
    CHECK(limited<tag>({1.5, product_exponent_limit}).exponent == product_exponent_limit);
    CHECK(limited<tag>({1.5, product_exponent_limit + 1}).mantissa == infinity);
    CHECK(limited<tag>({-1.5, product_exponent_limit + 1}).mantissa == -infinity);
    CHECK(limited<tag>({1.5, -product_exponent_limit}).mantissa == 1.5);
    CHECK(limited<tag>({1.5, -product_exponent_limit - 1}).mantissa == 0);
    CHECK(__builtin_signbit(limited<tag>({-1.5, -product_exponent_limit - 1}).mantissa));
}

TEST_CASE("value_of: rounds once, also into the denormals") {
    CHECK(value_of<tag>({1.5, -1074}) == 0x1p-1073);
    CHECK(value_of<tag>({1.5, -1076}) == 0);
    CHECK(value_of<tag>({1.0, 1023}) == 0x1p1023);
    CHECK(value_of<tag>({-1.0, 1024}) == -infinity);
}
