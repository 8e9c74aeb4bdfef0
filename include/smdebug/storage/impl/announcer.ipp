// The bodies of <smdebug/storage/announcer.hpp>.
#pragma once

#include <smdebug/storage/announcer.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::unique_ptr<change_signal> announcer::watch(std::span<const std::string> prefixes) {
    auto fresh = std::make_shared<bell>(std::vector<std::string>(prefixes.begin(), prefixes.end()));
    auto handle = std::make_unique<signal>(fresh);
    const std::lock_guard lock{guard_};
    std::erase_if(bells_, [](const std::weak_ptr<bell>& each) { return each.expired(); });
    bells_.push_back(fresh);
    return handle;
}

SMDEBUG_INLINE void announcer::announce(std::string_view key) {
    const std::lock_guard lock{guard_};
    for (const std::weak_ptr<bell>& handle : bells_) {
        if (const std::shared_ptr<bell> living = handle.lock(); living && living->is_for(key)) {
            living->ring(key);
        }
    }
}

SMDEBUG_INLINE bool announcer::bell::is_for(std::string_view key) const {
    return std::any_of(prefixes_.begin(), prefixes_.end(),
                       [&](const std::string& prefix) { return key.starts_with(prefix); });
}

SMDEBUG_INLINE void announcer::bell::ring(std::string_view key) noexcept {
    const std::lock_guard lock{guard_};
    rung_ = true;
    try {
        if (keys_ && keys_->size() < most_keys) {
            keys_->emplace_back(key);
        } else {
            keys_.reset();
        }
    } catch (...) {
        keys_.reset();  // the storage's write has succeeded all the same
    }
    wake_.notify_all();
}

SMDEBUG_INLINE void announcer::bell::interrupt() noexcept {
    const std::lock_guard lock{guard_};
    interrupted_ = true;
    wake_.notify_all();
}

SMDEBUG_INLINE bool announcer::bell::wait_until(change_signal::clock::time_point until, key_list& keys) {
    std::unique_lock lock{guard_};
    wake_.wait_until(lock, until, [this] { return rung_ || interrupted_; });
    interrupted_ = false;
    keys = std::exchange(keys_, std::vector<std::string>{});
    return std::exchange(rung_, false);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
