#include <smdebug/batch/search/found_place.hpp>

#include "support/test.hpp"

using namespace smdebug::detail;

TEST_CASE("seen_paths: each text is new once, however many there are") {
    seen_paths seen;
    CHECK(seen.insert(""));
    CHECK_FALSE(seen.insert(""));
    constexpr std::size_t count = 20'000;
    std::size_t fresh = 0;
    for (std::size_t i = 0; i < count; ++i) {
        fresh += seen.insert("run_" + std::to_string(i)) ? 1U : 0U;
    }
    CHECK(fresh == count);
    for (std::size_t i = 0; i < count; ++i) {
        fresh -= seen.insert("run_" + std::to_string(i)) ? 0U : 1U;
    }
    CHECK(fresh == 0);
    CHECK(seen.size() == count + 1);
}
