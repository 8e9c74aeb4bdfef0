// Waits for data that another process will write: look, sleep until the storage announces a change or an interval is
// over, look again; until a deadline or a stop.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/announcer.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

enum class wait_outcome : std::uint8_t { look_again, timed_out, stopped };

/// Returns the signal for a wait, or null where the storage has none.
using signal_source = std::function<std::unique_ptr<change_signal>()>;

/// The signal source of a storage for some prefixes.
/// Borrows the storage until it is called.
[[nodiscard]] inline signal_source signals_of(const any_storage& store, std::vector<std::string> prefixes) {
    return [&store, prefixes = std::move(prefixes)] { return store.watch(prefixes); };
}

/// A storage's announcements, across waits: keys that have changed and were not looked at yet.
/// One thread at a time, except for interrupt().
class change_feed {
public:
    using clock = change_signal::clock;

    explicit change_feed(const signal_source& signals);

    /// Whether the storage announces changes.
    [[nodiscard]] bool announces() const noexcept { return announces_; }

    /// The keys that have changed since the last look; null if everything must be looked at.
    [[nodiscard]] const std::vector<std::string>* unseen() const noexcept { return everything_ ? nullptr : &unseen_; }

    /// Begins a look at what unseen() returned.
    void begin_look() noexcept { looking_since_ = clock::now(); }
    /// Ends the look.  The next look at everything is due in an `interval`; where changes are announced, it is
    /// scheduled so that looks at everything use at most 5% of the time.
    void end_look(std::chrono::milliseconds interval) noexcept;
    /// Schedules a look at everything in an `interval`.
    void plan_look_in(std::chrono::milliseconds interval) noexcept { next_look_ = clock::now() + interval; }

    /// Sleeps until something is announced or a look at everything is due, at the latest until `until`.
    void listen(clock::time_point until);
    /// Listens, but if an announcement requires another look at everything soon after the last one, rests first: looks
    /// at everything take no more than a tenth of the time.
    void pause(clock::time_point until);
    /// Ends a listen() or a pause().  Any thread.
    void interrupt() noexcept;

private:
    static constexpr int rest_share = 9;            // rest after a look at everything, in durations of that look
    static constexpr int idle_share = 19;           // the same where the storage announces changes and none comes
    static constexpr std::size_t most_keys = 4096;  // with more keys, a look at everything costs no more

    std::unique_ptr<change_signal> signal_;
    std::unique_ptr<change_signal> rest_ = announcer{}.watch({});  // announces nothing: it only sleeps
    std::vector<std::string> unseen_;
    bool announces_ = false;
    bool everything_ = true;
    clock::time_point looking_since_ = clock::now();
    clock::time_point rested_{};     // when an announcement may again cause a look at everything
    clock::time_point next_look_{};  // when a look at everything is due without one
};

/// Reuses feeds between waits: announcements between two waits are not lost, and the second need not look at
/// everything.  Threads: all calls may run concurrently; concurrent waits have separate feeds.
class feed_pool {
public:
    /// Null if there is none.
    [[nodiscard]] std::unique_ptr<change_feed> take();
    /// Drops the feed if the pool is full.
    void give_back(std::unique_ptr<change_feed> feed) noexcept;
    feed_pool() { idle_.lock()->reserve(most); }

private:
    static constexpr std::size_t most = 4;  // the system has few signals to give: often 128 a user

    synchronized<std::vector<std::unique_ptr<change_feed>>> idle_;
};

/// The pauses of one wait: begin_look(), look at what it returns, end_look(), pause(), and so on.
/// One thread uses it.
/// Cost: while nothing changes, one look an interval; where the storage announces changes, so rarely that looking takes
///       at most 5% of the time.  However many announcements come, looks at everything take no more than about a tenth
///       of the time, unless the interval is shorter than that.
class waiter {
public:
    using clock = change_signal::clock;

    /// No timeout: no deadline.  Either token ends the wait at once.  Borrows the pool, if there is one.
    waiter(std::chrono::milliseconds interval, std::optional<std::chrono::milliseconds> timeout,
           std::stop_token stop = {}, std::stop_token also_stop = {}, signal_source signals = {},
           feed_pool* pool = nullptr);
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter();

    /// Begins a look: returns the changed keys, if the storage announces all of them and looking at these is enough;
    /// null if everything must be looked at.  Continues from what an earlier wait left.
    [[nodiscard]] const std::vector<std::string>* begin_look();

    /// Ends that look; pause() calls it, too.  If a look throws before end_look() or pause(), the next look, maybe of
    /// another wait, gets the same keys again.
    void end_look() noexcept;

    /// Sleeps until a change, for an interval, to the deadline or to `latest`, whichever comes first.  The first pause
    /// returns at once where the storage announces changes: what came before the watch began is only found by looking.
    [[nodiscard]] wait_outcome pause(clock::time_point latest = clock::time_point::max());

    /// The duration of so many intervals, as a timeout.
    [[nodiscard]] static std::chrono::milliseconds intervals(std::chrono::milliseconds interval, int count) noexcept;

private:
    static constexpr std::chrono::milliseconds shortest{1};

    using callback = std::stop_callback<std::function<void()>>;

    [[nodiscard]] bool is_stopped() const noexcept { return stop_.stop_requested() || also_stop_.stop_requested(); }
    void connect();

    std::chrono::milliseconds interval_;
    std::optional<clock::time_point> deadline_;
    std::stop_token stop_;
    std::stop_token also_stop_;
    signal_source signals_;
    feed_pool* pool_;
    std::unique_ptr<change_feed> feed_;
    std::optional<callback> ended_;  // these callbacks use the feed
    std::optional<callback> also_ended_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/wait.ipp>
#endif
