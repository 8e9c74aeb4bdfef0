#include <smdebug/reduce/simd_batch.hpp>

#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;

namespace {

using arch = xsimd::default_arch;
constexpr parts extrema_alone{.extrema = true};
constexpr parts with_smallest{.extrema = true, .smallest = true};

template <class Lane, parts Parts>
block_result extrema_of(std::size_t place, Lane value) {
    using vector = xsimd::batch<Lane, arch>;
    std::array<Lane, vector::size> lanes;
    lanes.fill(3);
    lanes[place] = value;
    column_extrema<arch, Lane, Parts> extrema;
    extrema.add(vector::load_unaligned(lanes.data()));
    block_result block;
    extrema.leave(block);
    return block;
}

template <class Lane>
void check_every_lane() {
    for (std::size_t place = 0; place < xsimd::batch<Lane, arch>::size; ++place) {
        const auto low = extrema_of<Lane, with_smallest>(place, -7);
        CHECK(low.min == -7);
        CHECK(low.max == 3);
        CHECK(low.abs_min == 3);
        const auto small = extrema_of<Lane, with_smallest>(place, -1);
        CHECK(small.abs_min == 1);
        const auto high = extrema_of<Lane, extrema_alone>(place, 9);
        CHECK(high.min == 3);
        CHECK(high.max == 9);
        CHECK(high.abs_min == std::numeric_limits<double>::infinity());
    }
}

}  // namespace

TEST_CASE("column_extrema: finds an extreme in every lane; unwanted parts stay unchanged") {
    check_every_lane<float>();
    check_every_lane<double>();
}

TEST_CASE("column_extrema: a column only widens what the block has") {
    block_result block;
    block.min = -100;
    block.max = 100;
    block.abs_min = 0;
    column_extrema<arch, float, with_smallest> extrema;
    extrema.add(xsimd::batch<float, arch>(5.0F));
    extrema.leave(block);
    CHECK(block.min == -100);
    CHECK(block.max == 100);
    CHECK(block.abs_min == 0);
}

TEST_CASE("fetcher: neither the end of memory nor nothing at all is touched") {
    const std::array<std::byte, 64> last{};
    fetcher<arch, parts{}> beyond{last.data() + last.size(), last.data()};
    fetcher<arch, with_smallest> nothing{nullptr, last.data()};
    for (int row = 0; row < 10'000; ++row) {
        beyond.row(64);
        nothing.row(128);
    }
    CHECK(fetch_distance<with_smallest> >= fetch_distance<parts{}>);
}
