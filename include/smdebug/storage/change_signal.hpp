// Waking a thread that waits for objects to appear: the seam between a storage that can tell and a wait that asks.
#pragma once

#include <smdebug/core/form.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Tells one waiting thread that objects may have changed.  Where it says nothing, nobody may rely on that: file
/// systems of other machines announce nothing, so whoever waits looks again at times all the same.
/// Threads: one waits at a time; interrupt() may come from any.
class change_signal {
public:
    using clock = std::chrono::steady_clock;

    change_signal() = default;
    change_signal(const change_signal&) = delete;
    change_signal& operator=(const change_signal&) = delete;
    virtual ~change_signal() = default;

    /// Sleeps until something may have changed since the last call returned (since the signal was made, for the first
    /// call), until interrupt(), or until the time given.  Returns whether something may have changed: a false alarm is
    /// allowed, and so is a call that returns at once because it has only just begun to watch something.
    [[nodiscard]] virtual bool wait_until(clock::time_point until) = 0;

    /// Of which keys the last wait_until was told, in the order in which they came, some more than once; nothing where
    /// it cannot tell all that came on this machine: then everything has to be looked at.  Only after wait_until has
    /// returned true.
    [[nodiscard]] virtual std::optional<std::vector<std::string>> told() { return std::nullopt; }

    /// Ends the wait that is going on, or else the next one.
    virtual void interrupt() noexcept = 0;
};

namespace detail {

/// A signal that announces nothing: it sleeps.
class sleeping_signal final : public change_signal {
public:
    [[nodiscard]] SMDEBUG_INLINE bool wait_until(clock::time_point until) override;
    SMDEBUG_INLINE void interrupt() noexcept override;

private:
    std::mutex guard_;
    std::condition_variable wake_;
    bool interrupted_ = false;
};

}  // namespace detail

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/change_signal.ipp>
#endif
