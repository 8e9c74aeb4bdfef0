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
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) {
        auto fresh = std::make_shared<bell>(prefixes);
        auto handle = std::make_unique<signal>(fresh);
        const std::lock_guard lock{guard_};
        std::erase_if(bells_, [](const std::weak_ptr<bell>& each) { return each.expired(); });
        bells_.push_back(std::move(fresh));
        return handle;
    }

    /// Announces that the object of this key was written or removed. Call it when readers can see the change.
    /// Cost: one check for each live signal.
    void announce(std::string_view key) {
        const std::lock_guard lock{guard_};
        for (const std::weak_ptr<bell>& each : bells_) {
            if (const std::shared_ptr<bell> living = each.lock()) {
                living->ring(key);
            }
        }
    }

private:
    // Nothing: more keys arrived than are kept.
    using key_list = std::optional<std::vector<std::string>>;

    // What a signal shares with the announcer.
    struct bell {
        explicit bell(std::span<const std::string> of) : prefixes(of.begin(), of.end()) {}

        void ring(std::string_view key) noexcept {
            if (std::none_of(prefixes.begin(), prefixes.end(),
                             [&](const std::string& prefix) { return key.starts_with(prefix); })) {
                return;
            }
            const std::lock_guard lock{guard};
            rung = true;
            try {
                if (keys && keys->size() < most_keys) {
                    keys->emplace_back(key);
                } else {
                    keys.reset();
                }
            } catch (...) {
                keys.reset();  // the storage's write has succeeded anyway
            }
            wake.notify_all();
        }

        const std::vector<std::string> prefixes;
        std::mutex guard;
        std::condition_variable wake;
        key_list keys{std::in_place};
        bool rung = false;
        bool interrupted = false;
    };

    class signal final : public change_signal {
    public:
        explicit signal(std::shared_ptr<bell> source) : bell_(std::move(source)) {}
        [[nodiscard]] bool wait_until(clock::time_point until) override {
            std::unique_lock lock{bell_->guard};
            bell_->wake.wait_until(lock, until, [this] { return bell_->rung || bell_->interrupted; });
            bell_->interrupted = false;
            keys_ = std::exchange(bell_->keys, std::vector<std::string>{});
            return std::exchange(bell_->rung, false);
        }
        [[nodiscard]] key_list changed_keys() override { return keys_; }
        void interrupt() noexcept override {
            const std::lock_guard lock{bell_->guard};
            bell_->interrupted = true;
            bell_->wake.notify_all();
        }

    private:
        std::shared_ptr<bell> bell_;
        key_list keys_;
    };

    std::mutex guard_;
    std::vector<std::weak_ptr<bell>> bells_;
};

}  // namespace smdebug::inline v1::detail
