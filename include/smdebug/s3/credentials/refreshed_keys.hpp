// Keys that are fetched before they expire, by one thread for all.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/credentials/keys.hpp>
#include <smdebug/s3/credentials/keys_answer.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// When keys are fetched again.
struct refresh_policy {
    /// So long before they expire.
    std::chrono::system_clock::duration ahead = std::chrono::minutes{5};
    /// So long after a fetch that failed, or gave keys that expire within `ahead`.
    std::chrono::steady_clock::duration pause = std::chrono::seconds{15};
    /// What `pause` is measured with.
    std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

/// Holds keys, and has them fetched when they are wanted and stale.  Threads: any; one at a time fetches, meanwhile the
/// others use the old keys while those are good, and else wait for the one.
class refreshed_keys {
public:
    explicit refreshed_keys(refresh_policy policy) : policy_(std::move(policy)) {}

    /// Keys that are good at `now`.  fetch() gives a keys_answer; it is called by one thread at a time, in no lock.
    /// When it fails, returns the old keys while they are good; else throws, also to callers during `pause`.
    /// Errors: access_denied and unavailable with what the answer has `seen`; what fetch() throws.
    template <class Fetch>
    [[nodiscard]] access_keys get(std::chrono::system_clock::time_point now, Fetch&& fetch);

    /// Drops the keys, even if they have not expired.
    void forget();

private:
    using lock_type = std::unique_lock<std::mutex>;

    [[nodiscard]] static bool good(const std::optional<access_keys>& keys,
                                   std::chrono::system_clock::time_point then) noexcept {
        return keys && (!keys->expires || *keys->expires > then);
    }
    [[noreturn]] static void fail(const keys_answer& why);
    /// Ends a fetch, whatever came of it.  Under the lock.
    void settle(std::chrono::system_clock::time_point now);

    refresh_policy policy_;
    std::mutex guard_;
    std::condition_variable settled_;
    std::optional<access_keys> keys_;
    std::optional<keys_answer> failure_;  // of the last fetch
    std::chrono::steady_clock::time_point paused_until_ = std::chrono::steady_clock::time_point::min();
    bool fetching_ = false;
};

template <class Fetch>
access_keys refreshed_keys::get(std::chrono::system_clock::time_point now, Fetch&& fetch) {
    lock_type lock{guard_};
    while (true) {
        const bool paused = policy_.clock() < paused_until_;
        if (good(keys_, now + policy_.ahead) || (good(keys_, now) && (fetching_ || paused))) {
            return *keys_;
        }
        if (!fetching_) {
            if (paused && failure_) {
                fail(*failure_);
            }
            break;
        }
        settled_.wait(lock);
    }

    fetching_ = true;
    lock.unlock();
    keys_answer got;
    try {
        got = fetch();
    } catch (...) {
        lock.lock();
        failure_.reset();
        settle(now);
        if (good(keys_, now)) {
            return *keys_;
        }
        throw;
    }
    lock.lock();
    if (got.outcome == keys_outcome::found && !good(got.keys, now)) {
        got = {keys_outcome::failing, {}, got.seen + " gave keys that have expired.  Is this machine's clock right?"};
    }
    if (got.outcome == keys_outcome::found) {
        failure_.reset();
        keys_ = std::move(got.keys);
    } else {
        failure_ = std::move(got);
    }
    settle(now);
    if (!good(keys_, now)) {
        fail(*failure_);
    }
    return *keys_;
}

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/refreshed_keys.ipp>
#endif
