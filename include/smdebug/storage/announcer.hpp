// Wakes threads that wait for objects, for storages that know of their own writes.
#pragma once

#include <smdebug/storage/concepts.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Makes signals and wakes them. A signal shares nothing with the storage and may outlive it.
/// Threads: everything may be called concurrently.
class announcer {
public:
    /// A signal keeps at most so many keys for changed_keys(); if more arrive before a wait, it reports none of them.
    static constexpr std::size_t most_keys = 4096;

    /// Makes a signal that wakes when a key that starts with one of the prefixes is announced.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes);

    /// Announces that the object of this key was written or removed. Call it when readers can see the change.
    /// Cost: one check for each live signal.
    void announce(std::string_view key);

private:
    // Nothing: more keys arrived than are kept.
    using key_list = std::optional<std::vector<std::string>>;

    class bell {
    public:
        explicit bell(std::vector<std::string> prefixes) : prefixes_(std::move(prefixes)) {}

        [[nodiscard]] bool is_for(std::string_view key) const;
        void ring(std::string_view key) noexcept;
        void interrupt() noexcept;
        [[nodiscard]] bool wait_until(change_signal::clock::time_point until, key_list& keys);

    private:
        const std::vector<std::string> prefixes_;
        std::mutex guard_;
        std::condition_variable wake_;
        key_list keys_{std::in_place};
        bool rung_ = false;
        bool interrupted_ = false;
    };

    class signal final : public change_signal {
    public:
        explicit signal(std::shared_ptr<bell> source) : bell_(std::move(source)) {}
        [[nodiscard]] bool wait_until(clock::time_point until) override { return bell_->wait_until(until, keys_); }
        [[nodiscard]] key_list changed_keys() override { return keys_; }
        void interrupt() noexcept override { bell_->interrupt(); }

    private:
        std::shared_ptr<bell> bell_;
        key_list keys_;
    };

    std::mutex guard_;
    std::vector<std::weak_ptr<bell>> bells_;
};

inline std::unique_ptr<change_signal> announcer::watch(std::span<const std::string> prefixes) {
    auto fresh = std::make_shared<bell>(std::vector<std::string>(prefixes.begin(), prefixes.end()));
    auto handle = std::make_unique<signal>(fresh);
    const std::lock_guard lock{guard_};
    std::erase_if(bells_, [](const std::weak_ptr<bell>& each) { return each.expired(); });
    bells_.push_back(fresh);
    return handle;
}

inline void announcer::announce(std::string_view key) {
    const std::lock_guard lock{guard_};
    for (const std::weak_ptr<bell>& handle : bells_) {
        if (const std::shared_ptr<bell> living = handle.lock(); living && living->is_for(key)) {
            living->ring(key);
        }
    }
}

inline bool announcer::bell::is_for(std::string_view key) const {
    return std::any_of(prefixes_.begin(), prefixes_.end(),
                       [&](const std::string& prefix) { return key.starts_with(prefix); });
}

inline void announcer::bell::ring(std::string_view key) noexcept {
    const std::lock_guard lock{guard_};
    rung_ = true;
    try {
        if (keys_ && keys_->size() < most_keys) {
            keys_->emplace_back(key);
        } else {
            keys_.reset();
        }
    } catch (...) {
        keys_.reset();  // the storage's write has succeeded anyway
    }
    wake_.notify_all();
}

inline void announcer::bell::interrupt() noexcept {
    const std::lock_guard lock{guard_};
    interrupted_ = true;
    wake_.notify_all();
}

inline bool announcer::bell::wait_until(change_signal::clock::time_point until, key_list& keys) {
    std::unique_lock lock{guard_};
    wake_.wait_until(lock, until, [this] { return rung_ || interrupted_; });
    interrupted_ = false;
    keys = std::exchange(keys_, std::vector<std::string>{});
    return std::exchange(rung_, false);
}

}  // namespace smdebug::inline v1::detail
