#include <smdebug/core/system_time.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace std::chrono_literals;
using time_point = std::chrono::system_clock::time_point;

TEST_CASE("system_time: times within the clock's range are exact, others are clamped") {
    static_assert(nearest_system_time(0s) == time_point{});
    CHECK(nearest_system_time(1'795'255'200s, 5ns) == time_point{1'795'255'200s} + 5ns);
    CHECK(nearest_system_time(-1s) == time_point{-1s});
    CHECK(nearest_system_time(std::chrono::seconds::max(), 999'999'999ns) <= time_point::max());
    CHECK(nearest_system_time(std::chrono::seconds::max()) > time_point{24h * 365 * 280});
    CHECK(nearest_system_time(std::chrono::seconds::min()) < time_point{-24h * 365 * 280});
}

TEST_CASE("system_time: the longest difference exceeds the clock's own duration") {
    CHECK(time_between(time_point{1s}, time_point{3s}) == 2s);
    CHECK(time_between(time_point{3s}, time_point{1s}) == -2s);
    CHECK(time_between(time_point::min(), time_point::max()) > 24h * 365 * 500);
    CHECK(time_between(time_point::max(), time_point::min()) < -24h * 365 * 500);
}

TEST_CASE("system_time: the end of the longest wait is within what the clocks count to") {
    constexpr auto wait = detail::longest_wait;
    CHECK(std::chrono::steady_clock::now() < std::chrono::steady_clock::now() + wait);
    CHECK(std::chrono::system_clock::now() < std::chrono::system_clock::now() + wait);
    CHECK(wait > 24h * 365 * 99);
}
