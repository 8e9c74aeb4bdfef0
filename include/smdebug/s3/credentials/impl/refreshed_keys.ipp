// The bodies of <smdebug/s3/credentials/refreshed_keys.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/credentials/refreshed_keys.hpp>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE void refreshed_keys::forget() {
    const std::lock_guard lock{guard_};
    keys_.reset();
}

SMDEBUG_INLINE void refreshed_keys::fail(const keys_answer& why) {
    if (why.outcome == keys_outcome::failing || why.outcome == keys_outcome::unreachable) {
        throw unavailable(why.seen);
    }
    throw access_denied(why.seen);
}

SMDEBUG_INLINE void refreshed_keys::settle(std::chrono::system_clock::time_point now) {
    fetching_ = false;
    paused_until_ = good(keys_, now + policy_.ahead) ? paused_until_ : policy_.clock() + policy_.pause;
    settled_.notify_all();
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
