#include <smdebug/s3/call/retry_decision.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;

TEST_CASE("back_off: a pause is between nothing and a bound that doubles, up to the longest") {
    s3::retry_options how;
    how.first_pause = 100ms;
    how.longest_pause = 1000ms;
    for (const auto& [attempt, bound] :
         {std::pair{1U, 100ms}, {2U, 201ms}, {3U, 403ms}, {4U, 807ms}, {5U, 1000ms}, {6U, 1000ms}, {1000U, 1000ms}}) {
        CAPTURE(attempt);
        std::chrono::milliseconds longest{0};
        std::chrono::milliseconds shortest = bound;
        std::set<std::int64_t> seen;
        for (std::uint64_t seed = 0; seed < 20; ++seed) {
            s3::detail::back_off pauses{how, seed};
            for (int i = 0; i < 50; ++i) {
                const auto pause = pauses.pause(attempt);
                REQUIRE(pause >= 0ms);
                REQUIRE(pause <= bound);
                longest = std::max(longest, pause);
                shortest = std::min(shortest, pause);
                seen.insert(pause.count());
            }
        }
        // The whole allowed range occurs.
        CHECK(longest > bound * 9 / 10);
        CHECK(shortest < bound / 10);
        CHECK(seen.size() > 30);
    }
}

TEST_CASE("back_off: what the server asks for comes before chance") {
    s3::detail::back_off pauses{{.first_pause = 10ms, .longest_pause = 20ms}, 7};
    for (unsigned attempt = 1; attempt < 50; ++attempt) {
        const auto pause = pauses.pause(attempt, 3s);
        CHECK(pause >= 3s);
        CHECK(pause <= 3s + 20ms);
    }
}

TEST_CASE("back_off: settings that make no sense, and the largest there are") {
    constexpr auto most = std::chrono::milliseconds::max();
    s3::detail::back_off none{{.first_pause = 0ms, .longest_pause = 0ms}, 1};
    CHECK(none.pause(5) == 0ms);
    s3::detail::back_off negative{{.first_pause = -5ms, .longest_pause = -1ms}, 1};
    CHECK(negative.pause(5) == 0ms);
    s3::detail::back_off crossed{{.first_pause = 100ms, .longest_pause = 10ms}, 1};
    for (unsigned attempt = 1; attempt < 20; ++attempt) {
        CHECK(crossed.pause(attempt) <= 10ms);
    }
    s3::detail::back_off endless{{.first_pause = 1s, .longest_pause = most}, 1};
    for (unsigned attempt = 1; attempt < 200; ++attempt) {
        CHECK(endless.pause(attempt) >= 0ms);
    }
    CHECK(endless.pause(std::numeric_limits<unsigned>::max()) >= 0ms);
}

TEST_CASE("back_off: Retry-After is a number of seconds; a date is not followed") {
    CHECK(s3::detail::parse_retry_after("0") == 0s);
    CHECK(s3::detail::parse_retry_after("7") == 7s);
    CHECK(s3::detail::parse_retry_after("120") == 120s);
    CHECK(s3::detail::parse_retry_after("9223372036854775807") == std::chrono::hours{366 * 24});
    for (const std::string_view other :
         {"", " 7", "7 ", "-1", "+7", "7.5", "7s", "0x7", "9223372036854775808", "Sun, 06 Nov 1994 08:49:37 GMT"}) {
        CAPTURE(other);
        CHECK_FALSE(s3::detail::parse_retry_after(other).has_value());
    }
}
