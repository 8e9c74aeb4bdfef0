// The bodies of <smdebug/batch/ranks/worker.hpp>.
#pragma once

#include <smdebug/batch/ranks/worker.hpp>

#include <smdebug/core/error.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace smdebug {
inline namespace v1 {
namespace detail {

// Results are sent so often, if there are any: those of small runs some at a time.
inline constexpr std::chrono::milliseconds between_results{1};

SMDEBUG_INLINE worker::worker(rank_channel& channel, const rank_options& options, rank_work::engine engine,
                              std::stop_token stop)
    : channel_(channel),
      options_(options),
      engine_(engine),
      stop_(std::move(stop)),
      work_([&channel] { channel.wake(); }, true) {}

SMDEBUG_INLINE void worker::run() {
    const std::stop_callback wake{stop_, [this] { channel_.wake(); }};
    tell(rank_ready{.slots = options_.threads + 1, .machine = channel_.machine()});
    work_.start(engine_);
    for (;;) {
        now_ = clock::now();
        report();
        look_for_rank_0();
        const auto pause = std::chrono::duration_cast<std::chrono::milliseconds>(next_alive_ - clock::now());
        constexpr std::chrono::milliseconds short_pause{1};
        const bool is_soon = is_full_ || now_ < next_results_;
        const auto packet =
            channel_.receive(is_soon ? short_pause : std::max(pause, std::chrono::milliseconds{0}) + short_pause);
        if (!packet) {
            continue;
        }
        bool is_last = false;
        try {
            is_last = hear(*packet);
        } catch (const error& thrown) {
            channel_.quit(1,
                          "rank " + std::to_string(channel_.rank()) + " does not understand rank 0: " + thrown.what());
        }
        if (is_last) {
            return;
        }
    }
}

SMDEBUG_INLINE void worker::report() {
    if (stop_.stop_requested() && !leaves_) {
        leaves_ = true;
        tell(rank_leaves{});  // before any result that is undone
        work_.stop();
    }
    const bool ended = work_.has_ended();
    if (ended || now_ >= next_results_) {
        send_results();
    }
    if (ended && !has_ended_ && !is_full_) {
        has_ended_ = true;
        rank_ended what;
        try {
            if (const std::exception_ptr failure = work_.failure()) {
                std::rethrow_exception(failure);
            }
        } catch (const std::exception& thrown) {
            what.failure = std::string{"it has broken: "} + thrown.what();
        } catch (...) {
            what.failure = "it has broken";
        }
        tell(what);
    }
    if (now_ >= next_alive_) {
        next_alive_ = now_ + options_.heartbeat;
        tell(rank_alive{});
    }
}

SMDEBUG_INLINE void worker::send_results() {
    if (is_full_ && !channel_.all_sent()) {
        return;
    }
    is_full_ = false;
    for (int pieces = 0; pieces < 4;) {
        std::optional<rank_work::output> next = work_.take();
        if (!next) {
            return;
        }
        next_results_ = now_ + between_results;
        if (auto* const rows = std::get_if<rank_work::rows>(&*next)) {
            tell(result_rows{.place = rows->place, .number = rows->number, .rows = std::move(rows->bytes)});
            ++pieces;
        } else {
            tell(std::get<run_result>(std::move(*next)));
        }
    }
    is_full_ = true;
}

SMDEBUG_INLINE void worker::look_for_rank_0() {
    const auto limit = has_heard_ ? options_.lost_after : std::max(options_.lost_after, options_.start_limit);
    // Time in which this process was stopped itself is nobody's silence.
    const clock::duration away = now_ - std::exchange(looked_, now_);
    if (away > options_.lost_after / 2) {
        heard_ += away;
    }
    if (now_ - heard_ > limit) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now_ - heard_).count();
        channel_.quit(1, "rank " + std::to_string(channel_.rank()) + " on " + channel_.machine() +
                             " ends: nothing has been heard of rank 0 for " + std::to_string(seconds) + " s");
    }
}

SMDEBUG_INLINE bool worker::hear(const rank_channel::packet& packet) {
    heard_ = clock::now();
    has_heard_ = true;
    if (packet.bytes.empty()) {
        return false;
    }
    rank_message message = message_from_bytes(packet.bytes);
    if (auto* const run = std::get_if<batch_run>(&message)) {
        work_.give(std::move(*run));
    } else if (std::holds_alternative<give_back_runs>(message)) {
        tell(runs_back{.places = work_.take_back()});
    } else if (std::holds_alternative<no_more_runs>(message)) {
        work_.close();
    } else if (std::holds_alternative<stop_runs>(message)) {
        work_.stop();
    }
    const auto* const last = std::get_if<all_done>(&message);
    if (last != nullptr && last->lost > 0) {
        channel_.forget(static_cast<int>(last->lost));
    }
    return last != nullptr;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
