// Waiting for what another process will write: look, sleep until the storage says that something has changed or an
// interval is over, look again; until a deadline or a stop.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/guarded.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/change_signal.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

enum class wait_outcome : std::uint8_t { look_again, timed_out, stopped };

/// Gives the signal of a wait, or null where the storage has none.
using signal_source = std::function<std::unique_ptr<change_signal>()>;

/// The signal source of a storage for some prefixes.
/// Borrows the storage until it is called.
[[nodiscard]] inline signal_source signals_of(const any_storage& store, std::vector<std::string> prefixes) {
    return [&store, prefixes = std::move(prefixes)] { return store.watch(prefixes); };
}

/// What a storage announces, from one wait to the next: what has changed and was not looked at yet.
/// One thread at a time, but for interrupt().
class change_feed {
public:
    using clock = change_signal::clock;

    explicit change_feed(const signal_source& signals);

    /// Whether anything is announced at all.
    [[nodiscard]] bool announces() const noexcept { return announces_; }

    /// The keys that have changed since the last look; null: everything has to be looked at.
    [[nodiscard]] const std::vector<std::string>* unseen() const noexcept { return everything_ ? nullptr : &unseen_; }

    /// A look at what unseen() says begins now.
    void begin_look() noexcept { looking_since_ = clock::now(); }
    /// The look has ended.  After one at everything the next is due in an `interval`; where changes are announced, late
    /// enough that looking takes a twentieth of the time.
    void end_look(std::chrono::milliseconds interval) noexcept;
    /// Everything has to be looked at in an `interval`.
    void plan_look_in(std::chrono::milliseconds interval) noexcept { next_look_ = clock::now() + interval; }

    /// Sleeps until something is announced or everything has to be looked at, but no longer than to `until`.
    void listen(clock::time_point until);
    /// The same; and where an announcement asks for another look at everything soon after the last one, rests first:
    /// looks at everything take no more than a tenth of the time.
    void pause(clock::time_point until);
    /// Ends a listen() or a pause().  Any thread.
    void interrupt() noexcept;

private:
    static constexpr int rest_share = 9;            // rest after each look at everything, in looks
    static constexpr int idle_share = 19;           // the same where changes are announced, and none is
    static constexpr std::size_t most_keys = 4096;  // beyond that a look at everything costs no more

    std::unique_ptr<change_signal> signal_;
    sleeping_signal rest_;
    std::vector<std::string> unseen_;
    bool announces_ = false;
    bool everything_ = true;
    clock::time_point looking_since_ = clock::now();
    clock::time_point rested_{};     // when everything may be looked at again because of an announcement
    clock::time_point next_look_{};  // when it has to be without one
};

/// Keeps some feeds for the waits to come: what is announced between two waits is not lost, and the second need not
/// look at everything.  Threads: everything may be called at once; waits that go on at once have feeds of their own.
class feed_pool {
public:
    /// Null when there is none.
    [[nodiscard]] std::unique_ptr<change_feed> take();
    /// A feed too many is dropped.
    void give_back(std::unique_ptr<change_feed> feed) noexcept;
    feed_pool() { idle_.lock()->reserve(most); }

private:
    static constexpr std::size_t most = 4;  // the system has few signals to give: often 128 a user

    guarded<std::vector<std::unique_ptr<change_feed>>> idle_;
};

/// The pauses of one wait: begin_look(), look at what it says, end_look(), pause(), and so on.
/// One thread uses it.
/// Cost: while nothing changes a look an interval; where the storage announces changes as rarely as makes looking a
/// twentieth of the time.  However often it announces some, looking at everything takes no more than about a tenth of
/// the time, unless the interval is shorter than that.
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

    /// Begins a look: gives the keys that have changed, where the storage tells all of them and looking at these is
    /// enough; null: look at everything.  Takes up what an earlier wait has left.
    [[nodiscard]] const std::vector<std::string>* begin_look();

    /// Ends that look; pause() does so itself.  Where the look failed and neither is called, the next
    /// one, maybe of another wait, begins with what this one had.
    void end_look() noexcept;

    /// Sleeps until a change, for an interval, to the deadline or to `latest`, whichever comes first.  The first pause
    /// returns at once where the storage announces changes: what came before it began to watch can only be seen by
    /// looking.
    [[nodiscard]] wait_outcome pause(clock::time_point latest = clock::time_point::max());

    /// So many intervals, as a timeout.
    [[nodiscard]] static std::chrono::milliseconds intervals(std::chrono::milliseconds interval, int count) noexcept;

private:
    static constexpr std::chrono::milliseconds shortest{1};
    static constexpr std::chrono::milliseconds longest{std::chrono::hours{24 * 365 * 100}};

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
    std::optional<callback> ended_;  // they call into the feed
    std::optional<callback> also_ended_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/wait.ipp>
#endif
