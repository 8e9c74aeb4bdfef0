#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/wide_sum.hpp>

#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {
struct tag {};
}  // namespace

static_assert(magnitude<tag>(-2.5) == 2.5);

TEST_CASE("rounded: a product stays rounded, also where the compiler would fuse it with an addition") {
    const volatile double source = 1 + 0x1p-30;
    const double x = source;
    const double square = 1 + 0x1p-29;  // x * x without its last bit, 2^-60, which only an FMA would keep
    CHECK(rounded<tag>(x * x) - square == 0);
    CHECK(fused<tag>(x, x, -square) == 0x1p-60);
}

TEST_CASE("rounded: passes every value through") {
    for (const double value : {0.0, -0.0, 1.5, infinity, -infinity, 0x1p-1074}) {
        CHECK(rounded<tag>(value) == value);
        CHECK(__builtin_signbit(rounded<tag>(value)) == __builtin_signbit(value));
    }
    CHECK(smdebug::is_nan(rounded<tag>(not_a_number)));
    CHECK(rounded<tag>(2.5F) == 2.5F);
    CHECK(__builtin_signbit(magnitude<tag>(-0.0)) == false);
}
