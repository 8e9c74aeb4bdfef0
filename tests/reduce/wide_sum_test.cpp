#include <smdebug/reduce/wide_sum.hpp>

#include <reduce/corpus.hpp>
#include <reduce/exact.hpp>
#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;
using reduce_test::big;
using reduce_test::big_of;

namespace {

struct tag {};

big exact(wide_sum sum) { return big_of(sum.high) + big_of(sum.low); }
bool equal(const big& a, const big& b) { return (a - b).is_zero(); }

}  // namespace

TEST_CASE("two_sum: the sum and what rounding took from it, exactly") {
    const auto values = reduce_test::numbers(reduce_test::kind::wide_range, 400, {900, -900, 53});
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        const wide_sum sum = two_sum<tag>(values[i], values[i + 1]);
        CHECK(sum.high == values[i] + values[i + 1]);
        CHECK(equal(exact(sum), big_of(values[i]) + big_of(values[i + 1])));
    }
}

TEST_CASE("plus: a long sum loses at most 2^-100 of the magnitudes; integers lose nothing") {
    for (const auto which : {reduce_test::kind::uniform, reduce_test::kind::cancelling}) {
        wide_sum sum;
        big wanted;
        big magnitudes;
        for (const double value : reduce_test::numbers(which, 20'000, reduce_test::double_range)) {
            sum = plus<tag>(sum, wide_sum{value, 0});
            CHECK(sum.high == sum.high + sum.low);
            wanted = wanted + big_of(value);
            magnitudes = magnitudes + big_of(value).absolute();
        }
        CHECK(reduce_test::within(exact(sum), wanted, magnitudes, 88));
    }
    wide_sum sum;
    big wanted;
    for (int i = 0; i < 5000; ++i) {
        const wide_sum next{i % 3 == 0 ? -0x1p90 : 0x1p90 + 0x1p60, static_cast<double>(i)};
        sum = plus<tag>(sum, next);
        wanted = wanted + exact(next);
    }
    CHECK(equal(exact(sum), wanted));
    CHECK(equal(exact(minus<tag>(sum, sum)), big{}));
}

TEST_CASE("divided: nearest to the quotient, with a remainder in low") {
    const wide_sum third = divided<tag>({1, 0}, 3);
    CHECK(third.high == 1.0 / 3);
    CHECK(reduce_test::within(exact(third) * big(3), big_of(1.0), big_of(1.0), 104));
    const wide_sum back = divided<tag>({0x1p80, 3}, 0x1p80 / 1024);
    CHECK(back.high == 1024);
    CHECK(back.low == std::ldexp(3.0, -70));
    CHECK(divided<tag>({6, 0}, 3).low == 0);
}
