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
