#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/accumulate.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::reduce::detail;
using namespace smdebug::reduce;

namespace {

struct tag {};
constexpr required_statistics everything{.sweep = {.extrema = true, .smallest = true, .norms = true, .product = true},
                                         .spread = true};

/// 3, -4: the totals by hand.
totals three_and_minus_four() {
    totals all;
    all.count = 2;
    all.sum = {-1, 0};
    all.magnitudes = {7, 0};
    all.squares = {25, 0};
    all.min = -4;
    all.max = 3;
    all.abs_min = 3;
    all.product = scaled<tag>(-12.0);
    all.plain = {2, {-0.5, 0}, {24.5, 0}};
    all.absolute = {2, {3.5, 0}, {0.5, 0}};
    return all;
}

reduction_values finished(const totals& all, required_statistics wanted = everything, bool complex = false) {
    reduction_values found;
    finisher<tag>(all, wanted, complex, found).finish();
    return found;
}

}  // namespace

TEST_CASE("finisher: the eighteen values of 3 and -4") {
    const auto values = finished(three_and_minus_four());
    const double plain[] = {-4, 3, -0.5, 3.5, 12.25, -1, -12, 7, 5};
    const double absolute[] = {3, 4, 3.5, 0.5, 0.25, 7, 12, 7, 5};
    for (std::size_t i = 0; i < reduction_count; ++i) {
        CAPTURE(i);
        CHECK(values(static_cast<reduction>(i)) == plain[i]);
        CHECK(values(static_cast<reduction>(i), true) == absolute[i]);
    }
    CHECK(values.computed == reduction_set::all());
    CHECK(values.count == 2);
}

TEST_CASE("finisher: only what was walked for is computed") {
    const auto values = finished(three_and_minus_four(), {});
    CHECK(values.computed == (reduction_set{reduction::sum} | reduction_set{reduction::mean}));
    CHECK(smdebug::is_nan(values(reduction::l1)));
    const auto extrema = finished(three_and_minus_four(), {.sweep = {.extrema = true}});
    CHECK(extrema.computed.contains({reduction::max, true}));
    CHECK_FALSE(extrema.computed.contains({reduction::min, true}));
    CHECK_FALSE(extrema.computed.contains(reduction::l1));
    CHECK_FALSE(extrema.computed.has_counts());
    const auto norms = finished(three_and_minus_four(), {.sweep = {.norms = true}});
    CHECK(norms(reduction::l2) == 5);
    CHECK(norms(reduction::mean, true) == 3.5);
    CHECK_FALSE(norms.computed.contains(reduction::max));
    const auto more = finished(three_and_minus_four(), {.sweep = {.extrema = true, .smallest = true, .norms = true}});
    CHECK_FALSE(more.computed.contains({reduction::std, false}));
    CHECK_FALSE(more.computed.contains({reduction::prod, true}));
    CHECK(more.computed.has_counts());
}

TEST_CASE("finisher: complex tensors have no plain forms but the norms") {
    const auto values = finished(three_and_minus_four(), everything, true);
    CHECK(values.computed == (reduction_set::absolute() | reduction_set::counts() | reduction_set{reduction::l1} |
                              reduction_set{reduction::l2}));
}

TEST_CASE("finisher: scaled totals come back, sums by the scale and variances by its square") {
    totals all = three_and_minus_four();
    all.scale = 0x1p-600;
    const auto values = finished(all);
    CHECK(values(reduction::sum) == -0x1p600);
    CHECK(values(reduction::l2) == 5 * 0x1p600);
    CHECK(values(reduction::mean, true) == 3.5 * 0x1p600);
    CHECK(values(reduction::variance) == infinity);
    CHECK(values(reduction::std) == infinity);
    CHECK(values(reduction::max) == 3);
    all.scale = 0x1p600;
    CHECK(finished(all)(reduction::l1) == 7 * 0x1p-600);
    CHECK(finished(all)(reduction::variance) == 0);
}

TEST_CASE("finisher: NaN and infinities decide, whatever the sums hold") {
    totals all = three_and_minus_four();
    all.kinds.pos_inf = 1;
    all.sum = {not_a_number, not_a_number};
    CHECK(finished(all)(reduction::sum) == infinity);
    CHECK(finished(all)(reduction::l2) == infinity);
    CHECK(smdebug::is_nan(finished(all)(reduction::std)));
    all.kinds.neg_inf = 1;
    CHECK(smdebug::is_nan(finished(all)(reduction::mean)));
    CHECK(finished(all)(reduction::mean, true) == infinity);
    all.kinds.nan = 1;
    for (const double value : finished(all).value) {
        CHECK(smdebug::is_nan(value));
    }
}

TEST_CASE("finished_product: a 0 wins over an overflow, but not over an infinity") {
    totals all = three_and_minus_four();
    all.kinds.zeros = 1;
    all.product = {not_a_number, 0};
    CHECK(finished_product<tag>(all) == 0);
    all.kinds.pos_inf = 1;
    CHECK(smdebug::is_nan(finished_product<tag>(all)));
}
