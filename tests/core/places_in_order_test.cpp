#include <smdebug/core/sorted_blocks.hpp>

#include "support/test.hpp"

using smdebug::detail::places_in_order;
using smdebug::detail::sort_stably;

namespace {

using pairs = std::vector<std::pair<int, std::string>>;

bool by_number(const std::pair<int, std::string>& a, const std::pair<int, std::string>& b) { return a.first < b.first; }

}  // namespace

TEST_CASE("places_in_order: places sorted by their elements, stably") {
    const std::vector<int> numbers{3, 1, 2, 1, 3, 0};
    const auto before = [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; };
    CHECK(places_in_order(numbers.size(), before) == std::vector<std::uint32_t>{5, 1, 3, 2, 0, 4});
    CHECK(places_in_order(0, before).empty());
    CHECK(places_in_order(1, before) == std::vector<std::uint32_t>{0});
}

TEST_CASE("sort_stably: same result as std::stable_sort, whatever the input") {
    std::mt19937 random{7};
    for (std::size_t size = 0; size < 300; size = 2 * size + 1) {
        pairs all;
        for (std::size_t i = 0; i < size; ++i) {
            all.emplace_back(static_cast<int>(random() % 20), std::to_string(i) + " of some text that is long");
        }
        pairs wanted = all;
        std::stable_sort(wanted.begin(), wanted.end(), by_number);
        sort_stably(all, by_number);
        CHECK(all == wanted);
        const auto* const where = all.data();
        sort_stably(all, by_number);
        CHECK(all == wanted);
        CHECK(all.data() == where);  // nothing was moved
    }
}

TEST_CASE("sort_stably: an exception of the comparison is passed on, and nothing was moved") {
    pairs all{{2, "b"}, {1, "a"}, {0, "c"}};
    const pairs before = all;
    int left = 3;
    const auto failing = [&](const auto& a, const auto& b) {
        if (--left == 0) {
            throw std::runtime_error("failed");
        }
        return a.first < b.first;
    };
    CHECK_THROWS_AS(sort_stably(all, failing), std::runtime_error);
    CHECK(all == before);
}
