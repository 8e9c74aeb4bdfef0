// The bodies of <smdebug/batch/ranks/rank_ledger.hpp>.
#pragma once

#include <smdebug/batch/ranks/rank_ledger.hpp>

#include <smdebug/core/error.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

// Results of a bundle come at once: a rate is that of a longer time.
inline constexpr std::chrono::milliseconds rate_window{10};

SMDEBUG_INLINE rank_ledger::rank_ledger(int ranks, limits with, time_point now)
    : limits_(with), members_(static_cast<std::size_t>(std::max(ranks, 1))), looked_(now) {
    for (member& each : members_) {
        each.heard = now;
    }
}

SMDEBUG_INLINE void rank_ledger::join(int rank, std::size_t slots, time_point now) {
    member& joining = at(rank);
    joining.slots = std::max<std::size_t>(slots, 1);
    joining.by_rate = 0;
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

SMDEBUG_INLINE void rank_ledger::add(batch_run run, bool first) {
    const std::uint64_t place = run.place;
    if (!runs_.try_emplace(place, open_run{.run = std::move(run)}).second) {
        throw value_error("two runs of a batch have the place " + std::to_string(place));
    }
    (first ? again_ : fresh_).push_back(place);
    ++waiting_;
}

SMDEBUG_INLINE std::size_t rank_ledger::slots_of(const member& of, time_point now) const noexcept {
    return has_stalled(of, now) ? of.slots : std::max(of.slots, std::min(of.by_rate, limits_.most_slots));
}

SMDEBUG_INLINE void rank_ledger::measure(member& of, time_point now) const {
    const duration time = now - of.since;
    if (time < rate_window) {
        return;
    }
    const double in_time = static_cast<double>(limits_.ahead.count()) / static_cast<double>(time.count());
    of.by_rate = static_cast<std::size_t>(
        std::min(static_cast<double>(of.results) * in_time, static_cast<double>(limits_.most_slots)));
    of.results = 0;
    of.since = now;
}

SMDEBUG_INLINE std::size_t rank_ledger::wanted(time_point now) const noexcept {
    std::size_t free = 0;
    for (const member& each : members_) {
        const std::size_t slots = slots_of(each, now);
        if (each.state == rank_state::living && each.holds.size() < slots) {
            free += slots - each.holds.size();
        }
    }
    return free > waiting_ ? free - waiting_ : 0;
}

SMDEBUG_INLINE std::size_t rank_ledger::heavy_of(const member& of) const {
    return static_cast<std::size_t>(std::ranges::count_if(of.holds, [&](std::uint64_t place) {
        const auto run = runs_.find(place);
        return run != runs_.end() && is_heavy(run->second);
    }));
}

SMDEBUG_INLINE std::optional<int> rank_ledger::rank_for(const open_run& run, time_point now, std::size_t share) const {
    std::optional<int> best;
    std::size_t best_held = 0;
    std::size_t best_slots = 0;
    bool others = false;
    for (std::size_t i = members_.size(); i-- > 0;) {  // rank 0 last: whether there are others is known by then
        const member& each = members_[i];
        others = others || (i > 0 && each.state == rank_state::living);
        const std::size_t has = each.holds.size();
        const std::size_t slots = std::min(slots_of(each, now), std::max(each.slots, share));
        if (each.state != rank_state::living || has >= slots || each.holds.contains(run.run.place)) {
            continue;
        }
        if (run.run.known && i != 0 && members_.front().state == rank_state::living) {
            continue;  // rank 0 has what is known of it
        }
        if ((run.losses > 0 && i == 0 && others) || (is_heavy(run) && heavy_of(each) >= each.slots)) {
            continue;
        }
        const bool has_less = has * best_slots < best_held * slots;
        const bool has_as_much = has * best_slots == best_held * slots;
        if (!best || has_less || (has_as_much && slots > best_slots)) {
            best = static_cast<int>(i);
            best_held = has;
            best_slots = slots;
        }
    }
    return best;
}

SMDEBUG_INLINE std::optional<rank_ledger::hand_out> rank_ledger::next(time_point now, std::size_t to_come) {
    const auto living = static_cast<std::size_t>(
        std::ranges::count_if(members_, [](const member& each) { return each.state == rank_state::living; }));
    const std::size_t share = to_come == many ? many : (waiting_ + to_come) / (2 * std::max<std::size_t>(living, 1));
    for (std::deque<std::uint64_t>* const queue : {&again_, &fresh_}) {
        for (auto place = queue->begin(); place != queue->end();) {
            const auto run = runs_.find(*place);
            if (run == runs_.end() || run->second.rank != waiting) {
                place = queue->erase(place);
                continue;
            }
            if (const std::optional<int> rank = rank_for(run->second, now, share)) {
                member& taking = at(*rank);
                if (taking.holds.empty()) {
                    measure(taking, now);
                    taking.progressed = now;
                }
                run->second.rank = *rank;
                taking.holds.insert(*place);
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

SMDEBUG_INLINE bool rank_ledger::accept(int rank, std::uint64_t place, time_point now) {
    member& by = at(rank);
    by.holds.erase(place);
    by.progressed = now;
    by.taken_back = false;
    ++by.results;
    measure(by, now);
    return remove(place).has_value();
}

SMDEBUG_INLINE std::optional<batch_run> rank_ledger::remove(std::uint64_t place) {
    const auto run = runs_.find(place);
    if (run == runs_.end()) {
        return std::nullopt;
    }
    if (run->second.rank == waiting) {
        --waiting_;
    }
    std::optional<batch_run> removed = std::move(run->second.run);
    runs_.erase(run);
    return removed;
}

SMDEBUG_INLINE const batch_run* rank_ledger::find(std::uint64_t place) const {
    const auto run = runs_.find(place);
    return run == runs_.end() ? nullptr : &run->second.run;
}

SMDEBUG_INLINE bool rank_ledger::is_hindered(const member& of) const noexcept {
    return of.state == rank_state::living && !of.taken_back && of.holds.size() > of.slots;
}

SMDEBUG_INLINE std::vector<int> rank_ledger::stalled(time_point now) {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        member& each = members_[i];
        if (is_hindered(each) && has_stalled(each, now)) {
            each.taken_back = true;
            ranks.push_back(static_cast<int>(i));
        }
    }
    return ranks;
}

SMDEBUG_INLINE rank_ledger::time_point rank_ledger::stalls_at() const noexcept {
    time_point first = time_point::max();
    for (const member& each : members_) {
        if (is_hindered(each)) {
            first = std::min(first, each.progressed + limits_.stalled_after);
        }
    }
    return first;
}

SMDEBUG_INLINE void rank_ledger::give_back(int rank, std::uint64_t place) {
    at(rank).holds.erase(place);
    const auto run = runs_.find(place);
    if (run != runs_.end() && run->second.rank == rank) {
        wait_again(place, run->second);
    }
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
