#include <smdebug/reduce/wide_sum.hpp>

#include <reduce/corpus.hpp>
#include <reduce/exact.hpp>
#include "support/test.hpp"

using namespace smdebug::reduce;
using namespace smdebug::reduce::detail;
using reduce_test::big;
using reduce_test::big_of;
using reduce_test::element_of;

namespace {

struct tag {};

big exact(wide_sum sum) { return big_of(sum.high) + big_of(sum.low); }
bool equal(const big& a, const big& b) { return (a - b).is_zero(); }

template <class Integer>
void check_sums() {
    for (unsigned which = 0; which < reduce_test::integer_kinds; ++which) {
        for (const std::size_t count : {0U, 1U, 3U, 64U, 2048U}) {
            const auto values = reduce_test::integers<Integer>(count, which);
            big sum;
            big sizes;
            for (const Integer value : values) {
                sum = sum + big_of(element_of(value));
                sizes = sizes + big_of(element_of(value)).absolute();
            }
            const auto found = exact_sums<tag, Integer>(std::as_bytes(std::span{values}).data(), count);
            CHECK(equal(exact(found.sum), sum));
            CHECK(equal(exact(found.magnitudes), sizes));
        }
    }
}

template <class Integer>
void check_differences(const std::vector<Integer>& values, wide_sum mean, bool magnitudes) {
    std::vector<double> lanes(values.size());
    const wide_sum centre = exact_differences<tag, Integer>(std::as_bytes(std::span{values}).data(), values.size(),
                                                            mean, magnitudes, lanes.data());
    CHECK(reduce_test::within(exact(centre), exact(mean), big_of(2.0), 0));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const big value = big_of(element_of(values[i]));
        const big wanted = (magnitudes ? value.absolute() : value) - exact(centre);
        CHECK(reduce_test::within(big_of(lanes[i]), wanted, wanted.absolute(), 53));
    }
}

}  // namespace

TEST_CASE("exact_sums: every integer counts, the smallest ones too") {
    check_sums<std::int64_t>();
    check_sums<std::uint64_t>();
}

TEST_CASE("exact_differences: small differences of large integers are exact, large ones rounded once") {
    const std::int64_t top = std::numeric_limits<std::int64_t>::max();
    const std::int64_t bottom = std::numeric_limits<std::int64_t>::min();
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    check_differences<std::int64_t>({top, top - 1, top - 99, 0, bottom}, {0x1p63, -40}, false);
    check_differences<std::int64_t>({bottom, bottom + 3, -1, top}, {-0x1p63, 2}, false);
    check_differences<std::int64_t>({bottom, bottom + 3, top}, {0x1p63, -2}, true);
    check_differences<std::uint64_t>({most, most - 5, 0, 1, most / 2}, {0x1p64, -3}, false);
    check_differences<std::uint64_t>({7, 8, 9}, {8.5, 0}, false);
}

TEST_CASE("integer_centre_near: an integer near a mean, and the flip that makes all integers unsigned") {
    const auto plain = integer_centre_near<tag, std::uint64_t>({0x1p64, -3}, false);
    CHECK(plain.bits == std::numeric_limits<std::uint64_t>::max() - 2);
    CHECK(plain.flip == 0);
    CHECK(equal(exact(plain.value), big_of(0x1p64) - big_of(3.0)));
    const auto shifted = integer_centre_near<tag, std::int64_t>({-5, 0}, false);
    CHECK(shifted.bits == (std::uint64_t{1} << 63U) - 5);
    CHECK(shifted.flip == std::uint64_t{1} << 63U);
    CHECK(equal(exact(shifted.value), big_of(-5.0)));
    CHECK(integer_centre_near<tag, std::int64_t>({7, 0}, true).flip == 0);
}

TEST_CASE("integer_sweeps: of a kernel without vectors of its own, exact_sums and exact_differences") {
    const auto values = reduce_test::integers<std::int64_t>(100, 0);
    const std::byte* at = std::as_bytes(std::span{values}).data();
    const auto found = integer_sweeps<tag>::sums<std::int64_t>(at, values.size());
    const auto wanted = exact_sums<tag, std::int64_t>(at, values.size());
    CHECK(found.sum.high == wanted.sum.high);
    CHECK(found.magnitudes.low == wanted.magnitudes.low);
    std::array<double, 100> lanes;
    std::array<double, 100> wanted_lanes;
    const auto centre = integer_sweeps<tag>::differences<std::int64_t>(at, 100, {1e18, 0}, false, lanes.data());
    CHECK(centre.high == exact_differences<tag, std::int64_t>(at, 100, {1e18, 0}, false, wanted_lanes.data()).high);
    CHECK(lanes == wanted_lanes);
}
