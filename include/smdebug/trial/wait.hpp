// Waiting for something that storage does not announce: look, sleep, look again, until a deadline or a stop.
// Used by: trial (opening, wait_for_steps, missing event files).
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace smdebug {
inline namespace v1 {

enum class wait_outcome : std::uint8_t { look_again, timed_out, stopped };

/// The pauses of one wait.
class waiter {
public:
    using clock = std::chrono::steady_clock;

    /// No timeout: no deadline.  Either token ends the wait; the first at once, the second at the next look.
    waiter(std::chrono::milliseconds interval, std::optional<std::chrono::milliseconds> timeout,
           std::stop_token stop = {}, std::stop_token also_stop = {})
        : interval_(std::clamp<std::chrono::milliseconds>(interval, shortest, longest)),
          stop_(std::move(stop)),
          also_stop_(std::move(also_stop)) {
        // A timeout beyond the clock's range is none at all.
        if (timeout && *timeout < longest) {
            deadline_ = clock::now() + std::max(*timeout, std::chrono::milliseconds{0});
        }
    }

    /// Sleeps for an interval, or to the deadline if that is nearer.
    [[nodiscard]] wait_outcome pause() {
        if (stop_.stop_requested() || also_stop_.stop_requested()) {
            return wait_outcome::stopped;
        }
        const auto now = clock::now();
        if (deadline_ && now >= *deadline_) {
            return wait_outcome::timed_out;
        }
        auto until = now + interval_;
        if (deadline_ && *deadline_ < until) {
            until = *deadline_;
        }
        std::unique_lock lock{guard_};
        wake_.wait_until(lock, stop_, until, [] { return false; });
        return stop_.stop_requested() || also_stop_.stop_requested() ? wait_outcome::stopped : wait_outcome::look_again;
    }

private:
    static constexpr std::chrono::milliseconds shortest{1};
    static constexpr std::chrono::milliseconds longest{std::chrono::hours{24 * 365 * 100}};

    std::chrono::milliseconds interval_;
    std::optional<clock::time_point> deadline_;
    std::stop_token stop_;
    std::stop_token also_stop_;
    std::mutex guard_;
    std::condition_variable_any wake_;
};

}  // namespace v1
}  // namespace smdebug
