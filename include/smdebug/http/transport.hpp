// Start of http/: the interface of a transport, which sends requests to servers and returns their answers.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/http/message.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace smdebug::inline v1 {
namespace http {

/// An answer, with the ticket of its request.
struct arrival {
    std::size_t ticket = 0;
    http::response response = {};
};

/// Threads: put() on any, take_until() on one.
class completion_queue {
public:
    using clock = std::chrono::steady_clock;

    completion_queue() = default;
    completion_queue(const completion_queue&) = delete;
    completion_queue& operator=(const completion_queue&) = delete;
    ~completion_queue() = default;

    void put(arrival answer) {
        const std::lock_guard lock{guard_};
        arrivals_.push_back(std::move(answer));
        // Under the lock: the thread that takes the answer may destroy this inbox at once.
        ready_.notify_one();
    }

    /// Waits for the next answer; nothing if none arrives in time.
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

/// Carries requests over HTTP, many at once.  Derive from it to send requests in another way.  A transport promises:
///  1. a body is delivered whole, or the outcome is not `answered`;
///  2. redirections are not followed, only GET and HEAD are ever sent twice, and no header is added that a signature
///     covers (x-amz-*, authorization); "host" is that of the URL;
///  3. const calls may run concurrently on many threads.
class http_transport {
public:
    /// A running request.  Destroying it cancels the request: from then on nothing is put into the inbox for it, and the
    /// request's body is not read any more.  Until then inbox and body are borrowed.
    class exchange : public smdebug::detail::abstract {};

    virtual ~http_transport() = default;

    /// Returns at once, null if nothing is left to cancel.  Exactly one answer with that ticket is put into the inbox
    /// `to`, on any thread, possibly from within start().
    [[nodiscard]] virtual std::unique_ptr<exchange> start(http::request ask, http::completion_queue& to,
                                                          std::size_t ticket) const = 0;

protected:
    http_transport() = default;
    http_transport(const http_transport&) = default;
    http_transport& operator=(const http_transport&) = default;
};

/// Sends one request and waits for the answer on the calling thread.
[[nodiscard]] inline http::response perform(const http_transport& transport, http::request ask) {
    http::completion_queue answers;
    const auto exchange = transport.start(std::move(ask), answers, 0);
    return answers.take_until(http::completion_queue::clock::time_point::max())->response;
}

}  // namespace smdebug::inline v1
