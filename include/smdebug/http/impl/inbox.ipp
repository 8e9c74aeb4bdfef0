// The bodies of <smdebug/http/inbox.hpp>.
#pragma once

#include <smdebug/http/inbox.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace http {
namespace detail {

SMDEBUG_INLINE void inbox::put(arrival answer) {
    const std::lock_guard lock{guard_};
    arrivals_.push_back(std::move(answer));
    // Under the lock: the thread that takes the answer may destroy this inbox at once.
    ready_.notify_one();
}

SMDEBUG_INLINE std::optional<arrival> inbox::take_until(clock::time_point latest) {
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

}  // namespace detail
}  // namespace http
}  // namespace v1
}  // namespace smdebug
