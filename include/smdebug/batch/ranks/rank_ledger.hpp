// Which rank has which runs, how fast it is, and since when nothing was heard of it: what rank 0 decides by, without messages
// or clocks of its own.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The states of ranks and runs.  A run is open from add() until accept(), or until it is given up; what is not open is
/// forgotten, so that memory grows with the runs that ranks have, not with the list.
/// Rank 0 is the one that asks: it is never lost.      Threads: one.
/// How many runs a rank has at a time:
///   At first        as many as it said when it joined: its slots.
///   By its rate     what it does in limits::ahead, if that is more, up to limits::most_slots: of small runs it has the next
///                   ones before its results are here.
///   It has stalled  no result has come for limits::stalled_after: its slots again; what it has beyond them should be taken
///                   back, see stalled() and give_back(), as one slow run may be before many.
///   Few are left    the ranks share them: nobody has more than its slots when the last one is handed out.
class rank_ledger {
public:
    using time_point = std::chrono::steady_clock::time_point;
    using duration = std::chrono::steady_clock::duration;

    struct limits {
        duration lost_after = std::chrono::seconds{20};    ///< nothing heard for so long: lost
        duration start_limit = std::chrono::seconds{120};  ///< the same before it has joined
        unsigned losses = 2;                               ///< a run that so many ranks were lost with is given up
        duration ahead = std::chrono::milliseconds{20};
        duration stalled_after = std::chrono::milliseconds{100};
        std::size_t most_slots = 64;
    };
    /// Of runs that are to come: more than matters.
    static constexpr std::size_t many = ~std::size_t{0};
    struct hand_out {
        int rank = 0;
        batch_run run = {};
    };
    struct loss {
        int rank = 0;
        duration silent = {};
        std::vector<batch_run> again = {};     ///< others get these
        std::vector<batch_run> given_up = {};  ///< nobody does: too many ranks were lost with them
    };

    /// `ranks`: how many there are, rank 0 too.
    rank_ledger(int ranks, limits with, time_point now);

    /// A rank is ready, and is to have `slots` runs at a time, or more by its rate.
    void join(int rank, std::size_t slots, time_point now);
    /// Anything came from it.  True: it had been lost, and is back; it may get runs again.
    bool heard(int rank, time_point now);
    /// It gives back what it has, through no fault of the runs, and gets nothing more.
    void leave(int rank);
    /// It has broken: as if it had been silent for too long, and for good.
    [[nodiscard]] loss lose(int rank);
    /// The ranks that have been silent for too long.  Time in which this process itself did not run, being stopped or its
    /// machine asleep, counts as nobody's silence; so this is to be called a few times within lost_after.
    [[nodiscard]] std::vector<loss> lose_silent(time_point now);

    /// A run that is to be done.  Its place tells it apart.  `first`: before those that wait already.
    /// Errors: value_error: a run of this place is open.
    void add(batch_run run, bool first = false);
    /// How many runs more could be handed out at once.
    [[nodiscard]] std::size_t wanted(time_point now) const noexcept;
    /// A run for a rank with a free slot, the one that has the fewest for its slots: first those that ranks were lost with,
    /// then the others in order.  Those of lost ranks do not go to rank 0 as long as there are others, and no rank has more
    /// of them than it said slots: they may be the reason; nor of parts of runs, which are large.
    /// `to_come`: how many runs will be added later.
    [[nodiscard]] std::optional<hand_out> next(time_point now, std::size_t to_come = many);
    /// A rank has a result.  False: the run has one already, or was given up: the result is to be dropped.
    [[nodiscard]] bool accept(int rank, std::uint64_t place, time_point now);
    /// The ranks that have more runs than slots, and have stalled: each once, until it has a result again.
    [[nodiscard]] std::vector<int> stalled(time_point now);
    /// When stalled() may have something to say.
    [[nodiscard]] time_point stalls_at() const noexcept;
    /// A rank has not begun this run, and will not: others get it.
    void give_back(int rank, std::uint64_t place);
    /// All open runs, by place; none is open afterwards.
    [[nodiscard]] std::vector<batch_run> abandon();

    /// A run, which is not open any more; nothing: it was not.
    std::optional<batch_run> remove(std::uint64_t place);

    [[nodiscard]] bool is_open(std::uint64_t place) const { return runs_.contains(place); }
    /// An open run, else null.
    [[nodiscard]] const batch_run* find(std::uint64_t place) const;
    [[nodiscard]] std::size_t open() const noexcept { return runs_.size(); }
    [[nodiscard]] bool is_lost(int rank) const { return at(rank).state == rank_state::lost; }
    [[nodiscard]] bool has_left(int rank) const { return at(rank).state == rank_state::left; }
    [[nodiscard]] bool has_joined(int rank) const { return at(rank).state == rank_state::living; }
    /// Whether it still does a run, as far as is known.
    [[nodiscard]] bool is_busy(int rank) const { return !at(rank).holds.empty(); }
    /// Whether nothing has been heard of it for lost_after, in whatever state it is.
    [[nodiscard]] bool is_silent(int rank, time_point now) const { return now - at(rank).heard > limits_.lost_after; }
    [[nodiscard]] std::vector<int> lost() const;
    /// Whether all ranks have left or are lost: nobody does what is open.
    [[nodiscard]] bool is_deserted() const noexcept;

private:
    enum class rank_state : std::uint8_t { awaited, living, left, lost };
    struct member {
        rank_state state = rank_state::awaited;
        bool broken = false;         // lost for good
        bool taken_back = false;     // since its last result
        std::size_t slots = 0;       // that it said
        std::size_t by_rate = 0;     // slots that its rate would fill
        std::size_t results = 0;     // since `since`
        time_point since = {};       // when the count of its results began
        time_point progressed = {};  // when it had its last result, or its first run after none
        time_point heard = {};
        std::set<std::uint64_t> holds = {};  // also what others have been given since, once it was lost
    };
    struct open_run {
        batch_run run = {};
        int rank = waiting;  // that is to do it
        unsigned losses = 0;
    };
    static constexpr int waiting = -1;

    [[nodiscard]] member& at(int rank) { return members_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] const member& at(int rank) const { return members_.at(static_cast<std::size_t>(rank)); }
    [[nodiscard]] std::size_t slots_of(const member& of, time_point now) const noexcept;
    [[nodiscard]] bool has_stalled(const member& of, time_point now) const noexcept {
        return now - of.progressed > limits_.stalled_after;
    }
    [[nodiscard]] bool is_hindered(const member& of) const noexcept;
    [[nodiscard]] static bool is_heavy(const open_run& run) noexcept { return run.losses > 0 || run.run.steps; }
    [[nodiscard]] std::size_t heavy_of(const member& of) const;
    [[nodiscard]] std::optional<int> rank_for(const open_run& run, time_point now, std::size_t share) const;
    void measure(member& of, time_point now) const;
    void wait_again(std::uint64_t place, open_run& run);

    limits limits_;
    std::vector<member> members_;
    std::map<std::uint64_t, open_run> runs_;
    std::deque<std::uint64_t> again_;  // before fresh_; may name runs that wait no more
    std::deque<std::uint64_t> fresh_;
    std::size_t waiting_ = 0;  // runs that are in neither rank's hands
    time_point looked_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/ranks/impl/rank_ledger.ipp>
#endif
