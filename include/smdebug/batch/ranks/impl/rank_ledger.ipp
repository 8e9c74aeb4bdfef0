// The bodies of <smdebug/batch/ranks/rank_ledger.hpp>.
#pragma once

#include <smdebug/batch/ranks/rank_ledger.hpp>

#include <smdebug/core/error.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE rank_ledger::rank_ledger(int ranks, limits with, time_point now)
    : limits_(with), members_(static_cast<std::size_t>(std::max(ranks, 1))), looked_(now) {
    for (member& each : members_) {
        each.heard = now;
    }
}

SMDEBUG_INLINE void rank_ledger::join(int rank, std::size_t slots, time_point now) {
    member& joining = at(rank);
    joining.slots = std::max<std::size_t>(slots, 1);
    joining.heard = now;
    joining.state = rank_state::living;
}

SMDEBUG_INLINE bool rank_ledger::heard(int rank, time_point now) {
    member& speaking = at(rank);
    speaking.heard = now;
    if (speaking.state != rank_state::lost || speaking.broken) {
        return false;
    }
    speaking.state = speaking.slots == 0 ? rank_state::awaited : rank_state::living;
    return true;
}

SMDEBUG_INLINE void rank_ledger::wait_again(std::uint64_t place, open_run& run) {
    run.rank = waiting;
    again_.push_back(place);
    ++waiting_;
}

SMDEBUG_INLINE void rank_ledger::leave(int rank) {
    member& leaving = at(rank);
    leaving.state = rank_state::left;
    for (const std::uint64_t place : std::exchange(leaving.holds, {})) {
        const auto run = runs_.find(place);
        if (run != runs_.end() && run->second.rank == rank) {
            wait_again(place, run->second);
        }
    }
}

SMDEBUG_INLINE rank_ledger::loss rank_ledger::lose(int rank) {
    member& broken = at(rank);
    loss what{.rank = rank};
    broken.broken = true;
    broken.state = rank_state::lost;
    // It keeps what it holds: should it be back, those runs still fill its slots.
    for (const std::uint64_t place : broken.holds) {
        const auto run = runs_.find(place);
        if (run == runs_.end() || run->second.rank != rank) {
            continue;
        }
        if (++run->second.losses >= limits_.losses) {
            what.given_up.push_back(std::move(run->second.run));
            runs_.erase(run);
        } else {
            what.again.push_back(run->second.run);
            wait_again(place, run->second);
        }
    }
    return what;
}

SMDEBUG_INLINE std::vector<rank_ledger::loss> rank_ledger::lose_silent(time_point now) {
    std::vector<loss> losses;
    const duration away = now - std::exchange(looked_, now);
    if (away > limits_.lost_after / 2) {
        for (member& each : members_) {
            each.heard += away;
        }
    }
    for (std::size_t i = 1; i < members_.size(); ++i) {
        member& each = members_[i];
        const duration silent = now - each.heard;
        const bool joins = each.state == rank_state::awaited;
        if ((each.state == rank_state::living && silent > limits_.lost_after) ||
            (joins && silent > limits_.start_limit)) {
            losses.push_back(lose(static_cast<int>(i)));
            losses.back().silent = silent;
            each.broken = false;
        }
    }
    return losses;
}

SMDEBUG_INLINE void rank_ledger::add(batch_run run) {
    const std::uint64_t place = run.place;
    if (!runs_.try_emplace(place, open_run{.run = std::move(run)}).second) {
        throw value_error("two runs of a batch have the place " + std::to_string(place));
    }
    fresh_.push_back(place);
    ++waiting_;
}

SMDEBUG_INLINE std::size_t rank_ledger::wanted() const noexcept {
    std::size_t free = 0;
    for (const member& each : members_) {
        if (each.state == rank_state::living && each.holds.size() < each.slots) {
            free += each.slots - each.holds.size();
        }
    }
    return free > waiting_ ? free - waiting_ : 0;
}

SMDEBUG_INLINE std::optional<int> rank_ledger::rank_for(const open_run& run) const {
    std::optional<int> best;
    std::size_t most = 0;
    bool others = false;
    for (std::size_t i = members_.size(); i-- > 0;) {  // rank 0 last: whether there are others is known by then
        const member& each = members_[i];
        others = others || (i > 0 && each.state == rank_state::living);
        const std::size_t free = each.holds.size() < each.slots ? each.slots - each.holds.size() : 0;
        if (each.state != rank_state::living || free <= most || each.holds.contains(run.run.place) ||
            (i == 0 && run.losses > 0 && others)) {
            continue;
        }
        best = static_cast<int>(i);
        most = free;
    }
    return best;
}

SMDEBUG_INLINE std::optional<rank_ledger::hand_out> rank_ledger::next() {
    for (std::deque<std::uint64_t>* const queue : {&again_, &fresh_}) {
        for (auto place = queue->begin(); place != queue->end();) {
            const auto run = runs_.find(*place);
            if (run == runs_.end() || run->second.rank != waiting) {
                place = queue->erase(place);
                continue;
            }
            if (const std::optional<int> rank = rank_for(run->second)) {
                run->second.rank = *rank;
                at(*rank).holds.insert(*place);
                queue->erase(place);
                --waiting_;
                return hand_out{.rank = *rank, .run = run->second.run};
            }
            if (queue == &fresh_) {
                return std::nullopt;  // no rank has a free slot
            }
            ++place;  // one that only certain ranks may have
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE bool rank_ledger::accept(int rank, std::uint64_t place) {
    at(rank).holds.erase(place);
    const auto run = runs_.find(place);
    if (run == runs_.end()) {
        return false;
    }
    if (run->second.rank == waiting) {
        --waiting_;
    }
    runs_.erase(run);
    return true;
}

SMDEBUG_INLINE std::vector<batch_run> rank_ledger::abandon() {
    std::vector<batch_run> left;
    left.reserve(runs_.size());
    for (auto& [place, run] : runs_) {
        left.push_back(std::move(run.run));
    }
    runs_.clear();
    again_.clear();
    fresh_.clear();
    waiting_ = 0;
    return left;
}

SMDEBUG_INLINE std::vector<int> rank_ledger::lost() const {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i].state == rank_state::lost) {
            ranks.push_back(static_cast<int>(i));
        }
    }
    return ranks;
}

SMDEBUG_INLINE bool rank_ledger::is_deserted() const noexcept {
    return std::ranges::all_of(
        members_, [](const member& each) { return each.state == rank_state::left || each.state == rank_state::lost; });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
