#include <smdebug/reduce/lanes.hpp>

#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

struct tag {};

/// A spread by the textbook, good enough for small integers.
spread of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) {
        sum += value;
    }
    const auto count = static_cast<double>(values.size());
    double deviations = 0;
    for (const double value : values) {
        deviations += (value - sum / count) * (value - sum / count);
    }
    return {count, {sum / count, 0}, {deviations, 0}};
}

}  // namespace

TEST_CASE("merge: two parts make the whole") {
    spread all;
    merge<tag>(all, of({1, 2, 3, 6}));
    CHECK(all.count == 4);
    CHECK(all.mean.high == 3);
    merge<tag>(all, of({9, 11, 10, 10}));
    const spread whole = of({1, 2, 3, 6, 9, 11, 10, 10});
    CHECK(all.count == 8);
    CHECK(all.mean.high == whole.mean.high);
    CHECK(all.deviations.high == doctest::Approx(whole.deviations.high).epsilon(1e-15));
}

TEST_CASE("merge: distinguishes means that differ only in their last bits") {
    spread all{1000, {1e9, 0}, {0, 0}};
    merge<tag>(all, spread{1000, {1e9, 1e-8}, {0, 0}});
    CHECK(all.deviations.high == doctest::Approx(500 * 1e-16).epsilon(1e-12));
}

TEST_CASE("block_spread: looks again only where squares cancel") {
    int looks = 0;
    const auto look = [&](wide_sum mean) {
        ++looks;
        return second_look{mean, {0, 4}};
    };
    // 1, 2, 3, 6: mean 3, squares 50, deviations 14
    const spread plain = block_spread<tag>(4, {12, 0}, {50, 0}, look);
    CHECK(looks == 0);
    CHECK(plain.mean.high == 3);
    CHECK(plain.deviations.high == 14);
    // 99, 101, 99, 101: mean 100, deviations 4 of 40004
    const spread centred = block_spread<tag>(4, {400, 0}, {40004, 0}, look);
    CHECK(looks == 1);
    CHECK(centred.mean.high == 100);
    CHECK(centred.deviations.high == 4);
    CHECK(block_spread<tag>(4, {0, 0}, {0, 0}, look).deviations.high == 0);
    CHECK(looks == 1);
}

TEST_CASE("block_spread: a centre beside the mean is made good") {
    const auto look = [](wide_sum mean) { return second_look{{mean.high - 1, 0}, {4, 8}}; };
    const spread centred = block_spread<tag>(4, {400, 0}, {40004, 0}, look);  // differences 0, 2, 0, 2
    CHECK(centred.mean.high == 100);
    CHECK(centred.deviations.high == 4);
}
