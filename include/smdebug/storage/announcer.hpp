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
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes) const {
        return std::make_unique<signal>(signals_, std::vector<std::string>(prefixes.begin(), prefixes.end()));
    }

    /// Announces that the object of this key was written or removed. Call it when readers can see the change.
    /// Cost: one check for each live signal.
    void announce(std::string_view key) const {
        const std::lock_guard lock{signals_->guard};
        for (signal* const each : signals_->live) {
            each->ring(key);
        }
    }

private:
    class signal;

    struct signal_list {
        std::mutex guard;  // also of what is in the signals
        std::vector<signal*> live;
    };

    class signal final : public change_signal {
    public:
        signal(std::shared_ptr<signal_list> all, std::vector<std::string> prefixes)
            : all_(std::move(all)), prefixes_(std::move(prefixes)) {
            const std::lock_guard lock{all_->guard};
            all_->live.push_back(this);
        }
        ~signal() override {
            const std::lock_guard lock{all_->guard};
            std::erase(all_->live, this);
        }

        [[nodiscard]] bool wait_until(clock::time_point until) override {
            std::unique_lock lock{all_->guard};
            wake_.wait_until(lock, until, [this] { return rung_ || interrupted_; });
            interrupted_ = false;
            reported_ = std::exchange(arrived_, std::vector<std::string>{});
            return std::exchange(rung_, false);
        }
        [[nodiscard]] std::optional<std::vector<std::string>> changed_keys() override { return reported_; }
        void interrupt() noexcept override {
            const std::lock_guard lock{all_->guard};
            interrupted_ = true;
            wake_.notify_all();
        }

        // With the list's guard held.
        void ring(std::string_view key) noexcept {
            if (std::none_of(prefixes_.begin(), prefixes_.end(),
                             [&](const std::string& prefix) { return key.starts_with(prefix); })) {
                return;
            }
            rung_ = true;
            try {
                if (arrived_ && arrived_->size() < most_keys) {
                    arrived_->emplace_back(key);
                } else {
                    arrived_.reset();
                }
            } catch (...) {
                arrived_.reset();  // the storage's write has succeeded anyway
            }
            wake_.notify_all();
        }

    private:
        const std::shared_ptr<signal_list> all_;
        const std::vector<std::string> prefixes_;
        std::condition_variable wake_;
        std::optional<std::vector<std::string>> arrived_{std::in_place};  // nothing if they are more than are kept
        std::optional<std::vector<std::string>> reported_;
        bool rung_ = false;
        bool interrupted_ = false;
    };

    const std::shared_ptr<signal_list> signals_ = std::make_shared<signal_list>();
};

}  // namespace smdebug::inline v1::detail
