// The bodies of <smdebug/batch/ranks/coordinator.hpp>.
#pragma once

#include <smdebug/batch/ranks/coordinator.hpp>

#include <smdebug/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

namespace smdebug {
inline namespace v1 {
namespace detail {

// Results that wait for the sink while no more runs are handed out: a slow disk costs no memory.
inline constexpr std::size_t most_waiting_results = 64;
// Runs that the source is asked for before anybody wants them.
inline constexpr std::size_t runs_ahead = 256;
// A turn of the loop takes so long, if there is something to do: what comes meanwhile is done in the next one, at once.
inline constexpr std::chrono::milliseconds shortest_turn{1};

SMDEBUG_INLINE coordinator::coordinator(rank_channel& channel, const rank_options& options, run_feeder::source from,
                                        result_writer::sink to, rank_work::engine engine, std::stop_token stop)
    : channel_(channel),
      options_(options),
      engine_(engine),
      stop_(std::move(stop)),
      ledger_(channel.size(),
              {.lost_after = options.lost_after, .start_limit = options.start_limit, .losses = options.losses}, now_),
      ranks_(static_cast<std::size_t>(channel.size())),
      own_([&channel] { channel.wake(); }),
      writer_(
          to, [&channel] { channel.wake(); }, most_waiting_results / 2),
      feeder_(from, runs_ahead, [&channel] { channel.wake(); }) {
    ranks_[0].machine = channel.machine();
}

SMDEBUG_INLINE ranks_outcome coordinator::run() {
    const std::stop_callback wake{stop_, [this] { channel_.wake(); }};
    ledger_.join(0, options_.threads + 1, now_);
    own_.start(engine_);
    for (;;) {
        now_ = clock::now();
        look_at_own_side();
        hand_out();
        say_alive();
        look_for_losses();
        look_for_stalls();
        if (have_all_ended()) {
            break;
        }
        listen();
    }
    say_good_bye();
    if (!failure_) {
        failure_ = writer_.failure();  // of the last result
    }
    if (failure_) {
        std::rethrow_exception(failure_);
    }
    return outcome_;
}

SMDEBUG_INLINE void coordinator::listen() {
    const clock::time_point end = now_ + shortest_turn;
    auto until = std::min(next_alive_, stop_deadline_);
    if (phase_ == phase::working) {
        until = std::min(until, ledger_.stalls_at());
    }
    do {
        const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now());
        if (const auto packet =
                channel_.receive(std::max(pause, std::chrono::milliseconds{0}) + std::chrono::milliseconds{1})) {
            now_ = clock::now();
            hear(*packet);
        }
        until = std::min(until, end);
    } while (clock::now() < end);
}

SMDEBUG_INLINE void coordinator::look_at_own_side() {
    if (phase_ != phase::stopping && stop_.stop_requested()) {
        begin_stopping(nullptr);
    }
    for (const std::exception_ptr& failure : {feeder_.failure(), writer_.failure()}) {
        if (failure && !failure_) {
            begin_stopping(failure);
        }
    }
    const bool ended = own_.has_ended();
    while (std::optional<rank_work::output> next = own_.take()) {
        on_result(0, std::get<run_result>(std::move(*next)));
    }
    if (!ended || ranks_[0].ended) {
        return;
    }
    ranks_[0].ended = true;
    if (const std::exception_ptr failure = own_.failure()) {
        begin_stopping(failure);
    } else if (phase_ == phase::working) {
        ledger_.leave(0);
    }
}

SMDEBUG_INLINE void coordinator::hand_out() {
    if (phase_ != phase::working) {
        return;
    }
    for (std::size_t wanted = ledger_.wanted(now_); wanted > 0; --wanted) {
        std::optional<batch_run> run = feeder_.take();
        if (!run) {
            break;
        }
        try {
            ledger_.add(*std::move(run));
        } catch (const value_error&) {
            begin_stopping(std::current_exception());
            return;
        }
    }
    while (writer_.waiting() < most_waiting_results) {
        std::optional<rank_ledger::hand_out> next =
            ledger_.next(now_, feeder_.has_ended() ? feeder_.size() : rank_ledger::many);
        if (!next) {
            break;
        }
        if (next->rank == 0) {
            own_.give(std::move(next->run));
        } else {
            tell(next->rank, std::move(next->run));
        }
    }
    if (feeder_.has_all() && feeder_.is_empty() && ledger_.open() == 0) {
        begin_closing();
    } else if (ledger_.is_deserted()) {
        note("no process is left to do the rest");
        begin_stopping(nullptr);
    }
}

SMDEBUG_INLINE void coordinator::say_alive() {
    if (now_ >= next_alive_) {
        next_alive_ = now_ + options_.heartbeat;
        tell_others(rank_alive{});
    }
}

SMDEBUG_INLINE void coordinator::look_for_losses() {
    for (const rank_ledger::loss& each : ledger_.lose_silent(now_)) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(each.silent).count();
        on_loss(each, "nothing has been heard of it for " + std::to_string(seconds) + " s");
    }
}

SMDEBUG_INLINE void coordinator::look_for_stalls() {
    if (phase_ != phase::working) {
        return;
    }
    for (const int rank : ledger_.stalled(now_)) {
        if (rank == 0) {
            on_runs_back(0, own_.take_back());
        } else {
            tell(rank, give_back_runs{});
        }
    }
}

SMDEBUG_INLINE void coordinator::on_runs_back(int rank, const std::vector<std::uint64_t>& places) {
    for (const std::uint64_t place : places) {
        ledger_.give_back(rank, place);
    }
}

SMDEBUG_INLINE void coordinator::on_loss(const rank_ledger::loss& what, const std::string& why) {
    std::string text = name_of_rank(what.rank) + " is lost: " + why;
    if (!what.again.empty() && phase_ == phase::working) {
        text += "; others do its " + std::to_string(what.again.size()) + " run" + (what.again.size() > 1 ? "s" : "");
    }
    note(text);
    for (batch_run run : what.given_up) {
        note("given up, as " + std::to_string(options_.losses) + " processes were lost that had it: " + run.path);
        emit_undone(std::move(run), "given up: " + std::to_string(options_.losses) +
                                        " processes were lost that had it, at last " + name_of_rank(what.rank));
    }
}

SMDEBUG_INLINE bool coordinator::have_all_ended() {
    if (phase_ == phase::working) {
        return false;
    }
    for (std::size_t rank = 1; rank < ranks_.size(); ++rank) {
        if (ranks_[rank].ended || ledger_.is_lost(static_cast<int>(rank))) {
            continue;
        }
        if (!is_over_time()) {
            return false;
        }
        on_loss(ledger_.lose(static_cast<int>(rank)), "it was told to stop, and does not");
    }
    const bool own_side = ranks_[0].ended && (phase_ == phase::closing || feeder_.has_ended());
    if (!own_side && !is_over_time()) {
        return false;
    }
    end_what_is_open("stopped before it was done");
    if (writer_.waiting() > 0) {
        return false;
    }
    if (!own_side) {
        channel_.abort(1,
                       std::string{ranks_[0].ended ? "the list of runs" : "rank 0"} +
                           " does not end, though it was told to stop; all results that there are have been written");
    }
    return true;
}

SMDEBUG_INLINE void coordinator::end_what_is_open(const std::string& why) {
    while (std::optional<batch_run> run = feeder_.take()) {
        emit_undone(*std::move(run), why);
    }
    for (batch_run& run : ledger_.abandon()) {
        emit_undone(std::move(run), why);
    }
}

SMDEBUG_INLINE void coordinator::hear(const rank_channel::packet& packet) {
    const int rank = packet.from;
    if (ledger_.heard(rank, now_)) {
        note(name_of_rank(rank) + " is back");
        tell_phase(rank);
    }
    if (packet.bytes.empty()) {
        return;
    }
    rank_message message;
    try {
        message = message_from_bytes(packet.bytes);
    } catch (const error&) {
        begin_stopping(std::current_exception());
        return;
    }
    if (const auto* const rows = std::get_if<result_rows>(&message)) {
        on_rows(rank, *rows);
    } else if (const auto* const ready = std::get_if<rank_ready>(&message)) {
        on_ready(rank, *ready);
    } else if (auto* const result = std::get_if<run_result>(&message)) {
        on_result(rank, std::move(*result));
    } else if (const auto* const back = std::get_if<runs_back>(&message)) {
        on_runs_back(rank, back->places);
    } else if (std::holds_alternative<rank_leaves>(message)) {
        on_leaving(rank);
    } else if (const auto* const ended = std::get_if<rank_ended>(&message)) {
        on_ended(rank, ended->failure);
    }
}

SMDEBUG_INLINE void coordinator::on_ready(int rank, const rank_ready& what) {
    ranks_[static_cast<std::size_t>(rank)].machine = what.machine;
    ledger_.join(rank, static_cast<std::size_t>(what.slots), now_);
    tell_phase(rank);
}

SMDEBUG_INLINE void coordinator::on_rows(int rank, const result_rows& what) {
    if (!ledger_.is_open(what.place)) {
        return;  // another rank was faster
    }
    constexpr std::size_t most_in_memory = std::size_t{1} << 20U;
    std::shared_ptr<row_spool>& rows = ranks_[static_cast<std::size_t>(rank)].rows[{what.place, what.number}];
    try {
        if (!rows) {
            rows = std::make_shared<row_spool>(most_in_memory);
        }
        rows->add_bytes(what.rows);
    } catch (const error&) {
        begin_stopping(std::current_exception());
    }
}

SMDEBUG_INLINE void coordinator::on_result(int rank, run_result&& result) {
    auto& rows = ranks_[static_cast<std::size_t>(rank)].rows;
    const auto end = rows.upper_bound({result.run.place, ~std::uint64_t{0}});
    for (auto each = rows.lower_bound({result.run.place, 0}); each != end; each = rows.erase(each)) {
        const std::uint64_t number = each->first.second;
        if (number <= result.others.size()) {
            (number == 0 ? result : result.others[number - 1]).reductions = std::move(each->second);
        }
    }
    const auto is_undone = [](const run_result& each) { return each.state == run_state::undone; };
    if ((is_undone(result) || std::ranges::any_of(result.others, is_undone)) && phase_ != phase::stopping &&
        ledger_.has_left(rank)) {
        return;  // others do it
    }
    if (split_runs::is_part(result.run.place)) {
        on_part(rank, std::move(result));
    } else if (!result.parts.empty()) {
        on_opened(rank, std::move(result));
    } else if (ledger_.accept(rank, result.run.place, now_)) {
        emit(std::move(result));
    }
}

SMDEBUG_INLINE void coordinator::emit(run_result&& result) {
    ++outcome_.results;
    outcome_.undone += result.state == run_state::undone ? 1 : 0;
    writer_.push(std::move(result));
}

SMDEBUG_INLINE void coordinator::on_opened(int rank, run_result&& opened) {
    const batch_run* const open = ledger_.find(opened.run.place);
    if (open != nullptr && open->whole) {
        ledger_.give_back(rank, opened.run.place);  // it is late: the parts have been tried
        return;
    }
    std::optional<batch_run> run = open != nullptr ? std::optional{*open} : std::nullopt;
    if (!ledger_.accept(rank, opened.run.place, now_)) {
        return;
    }
    for (batch_run& part : split_.split(*std::move(run), std::move(opened))) {
        ledger_.add(std::move(part), true);
    }
}

SMDEBUG_INLINE void coordinator::on_part(int rank, run_result&& part) {
    if (!ledger_.accept(rank, part.run.place, now_)) {
        return;
    }
    split_runs::step_taken next = split_.take(std::move(part));
    remove(next.useless);
    if (next.joined) {
        emit(*std::move(next.joined));
    } else if (next.again) {
        ledger_.add(*std::move(next.again), true);
    }
}

SMDEBUG_INLINE void coordinator::remove(const std::vector<std::uint64_t>& places) {
    for (const std::uint64_t place : places) {
        ledger_.remove(place);
    }
}

SMDEBUG_INLINE void coordinator::on_ended(int rank, const std::string& failure) {
    ranks_[static_cast<std::size_t>(rank)].ended = true;
    if (!failure.empty()) {
        on_loss(ledger_.lose(rank), failure);
    } else {
        on_leaving(rank);
    }
}

SMDEBUG_INLINE void coordinator::on_leaving(int rank) {
    if (phase_ == phase::working && !ledger_.has_left(rank)) {
        ledger_.leave(rank);
        note(name_of_rank(rank) + " has been stopped; others do what it had");
    }
}

SMDEBUG_INLINE void coordinator::begin_closing() {
    phase_ = phase::closing;
    for (int rank = 0; rank < channel_.size(); ++rank) {
        if (!ledger_.is_lost(rank)) {
            tell_phase(rank);
        }
    }
}

SMDEBUG_INLINE void coordinator::tell_phase(int rank) {
    if (phase_ == phase::working) {
        return;
    }
    // All runs have results: whoever still does one, does again what another has done.
    const bool stops = phase_ == phase::stopping || ledger_.is_busy(rank);
    if (rank > 0) {
        stops ? tell(rank, stop_runs{}) : tell(rank, no_more_runs{});
    } else {
        stops ? own_.stop() : own_.close();
    }
}

SMDEBUG_INLINE void coordinator::begin_stopping(std::exception_ptr why) {
    if (!failure_) {
        failure_ = why;
    }
    if (phase_ == phase::stopping) {
        return;
    }
    outcome_.stopped = !feeder_.has_all();
    phase_ = phase::stopping;
    stop_deadline_ = now_ + options_.stop_limit;
    feeder_.stop();
    own_.stop();
    tell_others(stop_runs{});
}

SMDEBUG_INLINE void coordinator::say_good_bye() {
    for (int rank = 1; rank < channel_.size(); ++rank) {
        if (!ranks_[static_cast<std::size_t>(rank)].ended || ledger_.is_silent(rank, now_)) {
            outcome_.lost.push_back(rank);
            channel_.forget(rank);
        }
    }
    const all_done last_word{.lost = outcome_.lost.empty() ? 0 : static_cast<std::uint64_t>(outcome_.lost.front())};
    for (int rank = 1; rank < channel_.size(); ++rank) {
        if (!std::ranges::binary_search(outcome_.lost, rank)) {
            tell(rank, last_word);
        }
    }
    const clock::time_point limit = clock::now() + options_.lost_after;
    while (!channel_.all_sent() && clock::now() < limit) {
        static_cast<void>(channel_.receive(std::chrono::milliseconds{1}));
    }
}

SMDEBUG_INLINE void coordinator::emit_undone(batch_run&& run, const std::string& why) {
    if (split_runs::is_part(run.place)) {
        std::vector<std::uint64_t> others;
        std::optional<batch_run> all = split_.give_up(run.place, others);
        if (!all) {
            return;  // with another part of it
        }
        remove(others);
        run = *std::move(all);
    }
    emit({.run = std::move(run), .state = run_state::undone, .error = why});
}

SMDEBUG_INLINE void coordinator::tell_others(const rank_message& what) {
    for (int rank = 1; rank < channel_.size(); ++rank) {
        // One that has ended waits for the last word, though it may have broken.
        if (!ledger_.is_lost(rank) || ranks_[static_cast<std::size_t>(rank)].ended) {
            tell(rank, what);
        }
    }
}

SMDEBUG_INLINE void coordinator::note(const std::string& text) const {
    if (options_.on_note) {
        options_.on_note(text);
    }
}

SMDEBUG_INLINE std::string coordinator::name_of_rank(int rank) const {
    const std::string& machine = ranks_[static_cast<std::size_t>(rank)].machine;
    return "rank " + std::to_string(rank) + (machine.empty() ? "" : " on " + machine);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
