// Start of http/: the concept of a transport, which sends requests to servers and returns their answers.
#pragma once

#include <smdebug/http/message.hpp>

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace smdebug::inline v1 {
namespace http::detail {

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

    void put(arrival answer);

    /// Waits for the next answer; nothing if none arrives in time.
    [[nodiscard]] std::optional<arrival> take_until(clock::time_point latest);

private:
    std::mutex guard_;
    std::condition_variable ready_;
    std::deque<arrival> arrivals_;
};

}  // namespace http::detail

/// A running exchange: movable, not copyable.
template <class Exchange>
concept http_exchange = std::movable<Exchange> && !std::copy_constructible<Exchange>;

/// Carries requests over HTTP, many at once.  A type Candidate models `http_transport` when:
///  1. start(request, inbox, ticket) returns at once; later exactly one answer with that ticket is put into the inbox,
///     on any thread, possibly from within start();
///  2. destroying the exchange that start() returned cancels it: from then on nothing is put into the inbox for it, and
///     the request's body is not read any more.  Until then inbox and body are borrowed;
///  3. a body is delivered whole, or the outcome is not `answered`;
///  4. redirections are not followed, only GET and HEAD are ever sent twice, and no header is added that a signature
///     covers (x-amz-*, authorization); "host" is that of the URL;
///  5. const calls may run concurrently on many threads; copies share their state.
template <class Candidate>
concept http_transport = std::copyable<Candidate> && requires(const Candidate& transport, http::request ask,
                                                              http::detail::completion_queue& to, std::size_t ticket) {
    { transport.start(std::move(ask), to, ticket) } -> http_exchange;
};

/// Sends one request and waits for the answer on the calling thread.
template <http_transport Transport>
[[nodiscard]] http::response perform(const Transport& transport, http::request ask) {
    http::detail::completion_queue answers;
    [[maybe_unused]] const auto exchange = transport.start(std::move(ask), answers, 0);
    return answers.take_until(http::detail::completion_queue::clock::time_point::max())->response;
}

namespace http::detail {

inline void completion_queue::put(arrival answer) {
    const std::lock_guard lock{guard_};
    arrivals_.push_back(std::move(answer));
    // Under the lock: the thread that takes the answer may destroy this inbox at once.
    ready_.notify_one();
}

inline std::optional<arrival> completion_queue::take_until(clock::time_point latest) {
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

}  // namespace http::detail
}  // namespace smdebug::inline v1
