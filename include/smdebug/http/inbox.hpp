// Where the answers to many requests arrive, on whatever thread, for the one thread that waits for them.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

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

    void put(arrival answer);

    /// The next answer; nothing when none has come by then.
    [[nodiscard]] std::optional<arrival> take_until(clock::time_point latest);

private:
    std::mutex guard_;
    std::condition_variable ready_;
    std::deque<arrival> arrivals_;
};

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/http/impl/inbox.ipp>
#endif
