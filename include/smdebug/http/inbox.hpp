// Where the answers to many requests arrive, on whatever thread, for the one thread that waits for them.
// Used by: http, s3.
#pragma once

#include <smdebug/http/message.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace http {

/// An answer, with the number that its request was given.
struct arrival {
    std::size_t ticket = 0;
    http::response response = {};
};

/// A queue of answers.  Threads: put() on any, take_until() on one.
class inbox {
public:
    using clock = std::chrono::steady_clock;

    inbox() = default;
    inbox(const inbox&) = delete;
    inbox& operator=(const inbox&) = delete;
    ~inbox() = default;

    void put(arrival answer) {
        const std::lock_guard lock{guard_};
        arrivals_.push_back(std::move(answer));
        // Under the lock: who takes it may destroy this at once.
        ready_.notify_one();
    }

    /// The next answer; nothing when none has come by then.
    [[nodiscard]] std::optional<arrival> take_until(clock::time_point latest) {
        std::unique_lock lock{guard_};
        const auto something = [&] { return !arrivals_.empty(); };
        if (latest == clock::time_point::max()) {  // some systems cannot wait until then
            ready_.wait(lock, something);
        } else if (!ready_.wait_until(lock, latest, something)) {
            return std::nullopt;
        }
        arrival first = std::move(arrivals_.front());
        arrivals_.pop_front();
        return first;
    }

private:
    std::mutex guard_;
    std::condition_variable ready_;
    std::deque<arrival> arrivals_;
};

}  // namespace http
}  // namespace v1
}  // namespace smdebug
