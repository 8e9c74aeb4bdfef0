#include <program/database/done_runs.hpp>

#include "support/test.hpp"

using namespace smdebug::detail::sqlite;

TEST_CASE("hash_of_run: each text counts, and where it ends") {
    const auto hash = [](const char* path, const char* version, const char* question) {
        const run_hash h = hash_of_run(path, version, question);
        return std::pair{h.high, h.low};
    };
    const std::set<std::pair<std::uint64_t, std::uint64_t>> all{
        hash("a", "b", "c"), hash("ab", "", "c"),   hash("", "ab", "c"), hash("a", "bc", ""), hash("b", "a", "c"),
        hash("a", "c", "b"), hash("a", "b", "c\n"), hash("", "", "abc"), hash("", "", ""),    hash("a", "b", "")};
    CHECK(all.size() == 10);
    CHECK(hash("a", "b", "c") == hash("a", "b", "c"));
}

TEST_CASE("done_runs: what is in it is what was inserted and not erased, also where probes meet") {
    std::mt19937 random{3};
    done_runs done;
    std::set<std::pair<std::uint64_t, std::uint64_t>> expected;
    CHECK_FALSE(done.contains({1, 2}));
    done.erase({1, 2});
    for (int i = 0; i < 20'000; ++i) {
        // Few places to begin at, so that probes run into each other, and around the end.
        const run_hash run{random() % 64, 1 + random() % 32};
        if (random() % 2 == 0) {
            done.insert(run);
            expected.insert({run.high, run.low});
        } else {
            done.erase(run);
            expected.erase({run.high, run.low});
        }
        REQUIRE(done.size() == expected.size());
        if (i % 500 == 0) {
            for (std::uint64_t high = 0; high < 64; ++high) {
                for (std::uint64_t low = 1; low <= 32; ++low) {
                    REQUIRE(done.contains({high, low}) == expected.contains({high, low}));
                }
            }
        }
    }
}

TEST_CASE("done_runs: a million runs take 16 to 32 MB, in any order") {
    constexpr std::size_t million = 1'000'000;
    done_runs at_once;
    at_once.reserve(million);
    done_runs one_by_one;
    for (std::uint64_t i = 1; i <= million; ++i) {
        const run_hash run{i * 0x9e3779b97f4a7c15U, i};
        at_once.insert(run);
        one_by_one.make_room();
        one_by_one.insert(run);
    }
    CHECK(at_once.size() == million);
    CHECK(one_by_one.size() == million);
    CHECK(at_once.bytes() <= 32'000'000);
    CHECK(one_by_one.bytes() <= 32'000'000);
}
