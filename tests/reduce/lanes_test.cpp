#include <smdebug/reduce/lanes.hpp>

#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {
struct tag {};
}  // namespace

// The definition is fixed: another number here gives other bits, and the hash in simd_kernel_test.cpp says so.
static_assert(lane_count == 16 && block_size == 2048 && group_rows == 8);
static_assert(block_size % (lane_count * group_rows) == 0);

TEST_CASE("tree_sum: merges by halves, lane i with lane i + 8 first") {
    lane_array<double> lanes{};
    lanes[0] = 1;
    lanes[1] = 0x1p-53;
    lanes[9] = 0x1p-53;  // joins lane 1 first: together they are enough to change a 1
    CHECK(tree_sum<tag>(lanes) == 1 + 0x1p-52);
    lanes = {};
    lanes[0] = 1;
    lanes[1] = 0x1p-53;
    lanes[2] = 0x1p-53;  // joins lane 0 before lane 1 does: each alone is lost
    CHECK(tree_sum<tag>(lanes) == 1);
    std::array<double, 4> rest{1, 2, 3, 4};
    CHECK(tree_sum<tag>(rest) == 10);
}

TEST_CASE("tree_sum of wide lanes: keeps what a plain tree would lose") {
    lane_array<double> high{};
    lane_array<double> low{};
    high[0] = 1;
    high[8] = 0x1p-60;
    high[4] = -1;
    low[3] = 0x1p-70;
    const wide_sum sum = tree_sum<tag>(high, low);
    CHECK(sum.high == 0x1p-60 + 0x1p-70);
    CHECK(sum.low == 0);
}

TEST_CASE("careful_product: the lanes' mantissas and exponents apart, infinities as 1") {
    const std::vector<double> values{1e300, 1e300, -1e300, 1e-300, 1e-300, 1e-300, 5e-324, 0x1p1000, 3};
    const auto product = careful_product<tag, double>(std::as_bytes(std::span{values}).data(), values.size());
    CHECK(value_of<tag>(product) == doctest::Approx(-3 * 0x1p-74));
    const std::vector<float> floats{2, -std::numeric_limits<float>::infinity(), 4};
    const auto other = careful_product<tag, float>(std::as_bytes(std::span{floats}).data(), floats.size());
    CHECK(value_of<tag>(other) == -8);
}

TEST_CASE("count_kinds: each element is of at most one kind") {
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> values{0, -0.0F, 1, inf, inf, -inf, std::nanf(""), -std::nanf(""), 1e-45F};
    const auto counts = count_kinds<tag, float>(std::as_bytes(std::span{values}).data(), values.size());
    CHECK(counts.zeros == 2);
    CHECK(counts.pos_inf == 2);
    CHECK(counts.neg_inf == 1);
    CHECK(counts.nan == 2);
}
