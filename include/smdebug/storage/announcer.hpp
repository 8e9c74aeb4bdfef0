// Telling those who wait for objects that something was written, for storages that know of their own writes.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/change_signal.hpp>

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

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Gives out signals, and wakes them.  A signal shares nothing with the storage, and may outlive it.
/// Threads: everything may be called at once.
class announcer {
public:
    /// A signal keeps as many keys for told(); when more come before a wait, it tells none of them.
    static constexpr std::size_t most_keys = 4096;

    /// A signal that wakes when a key is announced that starts with one of the prefixes.
    [[nodiscard]] std::unique_ptr<change_signal> watch(std::span<const std::string> prefixes);

    /// Tells that the object of this key has come, changed or gone: to be called when readers can see it.
    /// Cost: one look at each signal that is out.
    void announce(std::string_view key);

private:
    // Nothing: there were more keys than are kept.
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
        [[nodiscard]] key_list told() override { return keys_; }
        void interrupt() noexcept override { bell_->interrupt(); }

    private:
        std::shared_ptr<bell> bell_;
        key_list keys_;
    };

    std::mutex guard_;
    std::vector<std::weak_ptr<bell>> bells_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/announcer.ipp>
#endif
