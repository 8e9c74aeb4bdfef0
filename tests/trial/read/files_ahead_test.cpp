#include <smdebug/trial/read/reading_plan.hpp>

#include "support/test.hpp"

using namespace smdebug::detail;

TEST_CASE("files_ahead: each place is taken once, in order, within the window") {
    files_ahead ahead;
    CHECK(ahead.take(0, 2) == std::size_t{0});
    CHECK(ahead.take(0, 2) == std::size_t{1});
    CHECK_FALSE(ahead.take(0, 2));
    CHECK(ahead.take(1, 3) == std::size_t{2});
    CHECK(ahead.take(10, 12) == std::size_t{10});
    CHECK_FALSE(ahead.take(3, 11));
    CHECK(ahead.is_taken(0));
    CHECK(ahead.is_taken(10));
    CHECK_FALSE(ahead.is_taken(11));
}

TEST_CASE("files_ahead: after cached files some are skipped, more and more, until one is not cached") {
    files_ahead ahead;
    std::vector<std::size_t> taken;
    for (std::size_t place = 0; place < 1000; ++place) {
        while (const auto next = ahead.take(place, std::min<std::size_t>(place + 4, 1000))) {
            taken.push_back(*next);
            ahead.report(*next, true);
        }
    }
    CHECK(taken.size() < 40);
    CHECK(taken[1] == 5);
    CHECK(taken[2] - taken[1] > taken[1] - taken[0]);
    const std::size_t last = taken.back();
    const auto next = ahead.take(last + 100, last + 101);
    REQUIRE(next);
    ahead.report(*next, false);
    CHECK(ahead.take(*next + 1, *next + 2) == *next + 1);
}

TEST_CASE("files_ahead: fewer large files than small ones, and never none") {
    CHECK(files_ahead::window(0) == 16);
    CHECK(files_ahead::window(1'000'000) == 16);
    CHECK(files_ahead::window(std::uint64_t{16} << 20U) == 4);
    CHECK(files_ahead::window(~std::uint64_t{0}) == 2);
}

TEST_CASE("files_ahead: threads do not take the same") {
    files_ahead ahead;
    std::vector<std::vector<std::size_t>> taken(4);
    {
        std::vector<std::jthread> crew;
        for (std::vector<std::size_t>& mine : taken) {
            crew.emplace_back([&ahead, &mine] {
                while (const auto next = ahead.take(0, 10'000)) {
                    mine.push_back(*next);
                }
            });
        }
    }
    std::vector<std::size_t> all;
    for (const std::vector<std::size_t>& some : taken) {
        CHECK(std::ranges::is_sorted(some));
        all.insert(all.end(), some.begin(), some.end());
    }
    std::ranges::sort(all);
    CHECK(all.size() == 10'000);
    CHECK(std::ranges::adjacent_find(all) == all.end());
}
