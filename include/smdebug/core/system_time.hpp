// Converts times from headers, answers and file systems to time points of system_clock, and bounds times to wait.
// The clocks count nanoseconds, which range from 1677 to 2262 only; overflow is undefined.
#pragma once

#include <algorithm>
#include <chrono>

namespace smdebug::inline v1 {

/// That time plus `fraction` (less than a second), clamped to the clock's range.
[[nodiscard]] constexpr std::chrono::system_clock::time_point nearest_system_time(
    std::chrono::seconds since_1970, std::chrono::nanoseconds fraction = {}) noexcept {
    using clock = std::chrono::system_clock;
    using std::chrono::seconds;
    // One second inside the limits, to leave room for the fraction.
    constexpr auto least = std::chrono::duration_cast<seconds>(clock::duration::min()) + seconds{1};
    constexpr auto most = std::chrono::duration_cast<seconds>(clock::duration::max()) - seconds{1};
    const auto kept = std::clamp<seconds>(since_1970, least, most);
    return clock::time_point{std::chrono::duration_cast<clock::duration>(kept) +
                             std::chrono::duration_cast<clock::duration>(fraction)};
}

/// The time between two points, however far apart.
[[nodiscard]] constexpr std::chrono::milliseconds time_between(std::chrono::system_clock::time_point from,
                                                               std::chrono::system_clock::time_point to) noexcept {
    using std::chrono::milliseconds;
    return std::chrono::floor<milliseconds>(to.time_since_epoch()) -
           std::chrono::floor<milliseconds>(from.time_since_epoch());
}

namespace detail {

/// The longest time that is waited, a century: now and a longer one is beyond what a clock counts to.
inline constexpr std::chrono::milliseconds longest_wait = std::chrono::hours{24 * 365 * 100};

}  // namespace detail
}  // namespace smdebug::inline v1
