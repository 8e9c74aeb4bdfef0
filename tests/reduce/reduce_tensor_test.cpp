#include <smdebug/reduce/reduce_tensor.hpp>

#include <doctest/doctest.h>
#include <reduce/corpus.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace smdebug;
using namespace smdebug::reduce;

namespace {

struct tag {};

constexpr reduction_set both(reduction what) { return reduction_set{what, false} | reduction_set{what, true}; }

totals of(double squares) {
    totals all;
    all.count = 1;
    all.squares = {squares, 0};
    all.min = 1;
    all.max = 1;
    return all;
}

}  // namespace

static_assert(!demand_of<tag>(reduction::mean).more);
static_assert(!demand_of<tag>(reduction_set{reduction::mean} | reduction_set{reduction::sum}).more);
static_assert(demand_of<tag>({reduction::mean, true}).more);
static_assert(demand_of<tag>(reduction_set::counts()).more);
static_assert(!demand_of<tag>(both(reduction::l2)).spread);
static_assert(demand_of<tag>(both(reduction::std)).spread && !demand_of<tag>(both(reduction::std)).product);
static_assert(demand_of<tag>({reduction::prod, true}).product && demand_of<tag>({reduction::prod, true}).more);

TEST_CASE("needed_scale: 1 for everything but squares near the ends of the range") {
    constexpr demand more{true, true, false};
    CHECK(needed_scale<tag>(of(1), more) == 1);
    CHECK(needed_scale<tag>(of(0x1p890), more) == 1);
    CHECK(needed_scale<tag>(of(0x1p901), more) == 0x1p-600);
    CHECK(needed_scale<tag>(of(infinity), more) == 0x1p-600);
    CHECK(needed_scale<tag>(of(not_a_number), more) == 0x1p-600);
    CHECK(needed_scale<tag>(of(0x1p-901), more) == 0x1p600);
    CHECK(needed_scale<tag>(of(0), more) == 0x1p600);
    totals zeros = of(0);
    zeros.min = zeros.max = 0;
    CHECK(needed_scale<tag>(zeros, more) == 1);
    totals irregular = of(not_a_number);
    irregular.kinds.nan = 1;
    CHECK(needed_scale<tag>(irregular, more) == 1);
    CHECK(needed_scale<tag>(of(0), {}) == 1);
}

TEST_CASE("reduce_tensor: sums of doubles that overflow on the way come out right") {
    const double most = std::numeric_limits<double>::max();
    const std::vector<double> values{most, most, -most, -most, 3};
    const reduce_test::owned_tensor tensor(dtype::float64, values);
    for (const auto wanted : {reduction_set::all(), reduction_set{reduction::mean}}) {
        const auto found = *reduce_tensor<scalar_sweeps>(tensor.view(), wanted);
        CHECK(std::abs(found(reduction::sum)) <= 0x1p-50 * 4 * 0x1p1000 * 0x1p24);
        CHECK(std::isfinite(found(reduction::mean)));
    }
    const reduce_test::owned_tensor two(dtype::float64, std::vector<double>{most, most});
    const auto found = *reduce_tensor<scalar_sweeps>(two.view(), reduction_set::all());
    CHECK(found(reduction::mean) == most);
    CHECK(found(reduction::sum) == infinity);
    CHECK(found(reduction::max) == most);
    CHECK(found(reduction::variance) == 0);
    const reduce_test::owned_tensor tiny(dtype::float64, std::vector<double>{3e-320, -4e-320});
    CHECK(reduce_tensor<scalar_sweeps>(tiny.view(), reduction::l2)->value[reduction_key{reduction::l2}.index()] ==
          5e-320);
}

TEST_CASE("reduce_tensor: bytes beyond the last whole element do not count") {
    const std::vector<std::uint8_t> bytes{0, 0, 0x80, 0x3F, 0, 0, 0};
    const reduce_test::owned_tensor tensor(dtype::float32, bytes);
    const auto found = *reduce_tensor<scalar_sweeps>(tensor.view(), reduction_set::all());
    CHECK(found.count == 1);
    CHECK(found(reduction::sum) == 1);
}

TEST_CASE("complex_kinds: either part decides") {
    const std::vector<double> parts{0, 0, infinity, 1, 1, -infinity, not_a_number, 1, infinity, not_a_number, 1, 0};
    const auto kinds = complex_kinds<tag>(std::as_bytes(std::span{parts}).data(), parts.size() / 2);
    CHECK(kinds.zeros == 1);
    CHECK(kinds.pos_inf == 2);
    CHECK(kinds.neg_inf == 0);
    CHECK(kinds.nan == 2);
}
