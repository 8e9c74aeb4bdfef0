// The bodies of <smdebug/storage/concepts.hpp>.
#pragma once

#include <smdebug/storage/concepts.hpp>

namespace smdebug::inline v1 {

SMDEBUG_INLINE std::vector<std::string> detail::keys_of(std::vector<object_entry> listed) {
    std::vector<std::string> keys;
    keys.reserve(listed.size());
    for (object_entry& one : listed) {
        keys.push_back(std::move(one.key));
    }
    return keys;
}

SMDEBUG_INLINE bool detail::sleeping_signal::wait_until(clock::time_point until) {
    std::unique_lock lock{guard_};
    wake_.wait_until(lock, until, [this] { return interrupted_; });
    interrupted_ = false;
    return false;
}

SMDEBUG_INLINE void detail::sleeping_signal::interrupt() noexcept {
    const std::lock_guard lock{guard_};
    interrupted_ = true;
    wake_.notify_all();
}

}  // namespace smdebug::inline v1
