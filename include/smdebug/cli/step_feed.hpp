// The steps of a growing run, each handed out once, when it is complete.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/step_wait.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// How following a run came to its end.
enum class follow_end : std::uint8_t {
    ended,        ///< the job has ended, and every step was seen
    end_step,     ///< the step to end at was reached; the job goes on
    stalled,      ///< nothing new for give_up_after
    replaced,     ///< the run is gone, or another one is in its place
    interrupted,  ///< by the user
    not_started,  ///< by the user, before there was a run
    failed,       ///< an error
};

/// The word for a run's state after that.
[[nodiscard]] constexpr std::string_view name_of(follow_end end) noexcept {
    switch (end) {
        case follow_end::ended:
            return "ended";
        case follow_end::end_step:
            return "running";
        case follow_end::stalled:
            return "stalled";
        case follow_end::replaced:
            return "replaced";
        case follow_end::interrupted:
            return "interrupted";
        case follow_end::not_started:
            return "not started";
        case follow_end::failed:
            break;
    }
    return "failed";
}

/// Which steps, and how long to wait for them.
struct feed_options {
    step_number start = 0;                ///< as it is shown: see basic_trial::shown_step()
    std::optional<step_number> end = {};  ///< exclusive; unset: to the end of the run
    std::optional<std::chrono::milliseconds> give_up_after = {};
    std::stop_token stop = {};
    std::size_t most = 64;  ///< steps that are handed out at once
    /// Called every idle_interval while there is nothing to hand out, unless empty.
    std::function<void()> idle = {};
    std::chrono::milliseconds idle_interval{1000};
    /// Whether the run is no longer the one that was opened: asked as often as idle(), and before steps are handed out.
    std::function<bool()> is_replaced = {};
};

/// The global steps of one run.  Borrows the run.
/// A step that appears below others that were handed out is handed out then: none is left out, none comes twice.
template <class Trial>
class step_feed {
public:
    step_feed(const Trial& run, feed_options options) : run_(run), options_(std::move(options)) {}

    /// The next steps that are complete, ascending; waits until there are some.  No other step that was handed out lies
    /// between them.  Empty: no more will come, and end() tells why.
    /// Errors: what a refresh throws.
    [[nodiscard]] std::vector<step_number> next() {
        if (options_.stop.stop_requested()) {
            return over(follow_end::interrupted);
        }
        if (auto ready = complete_ones(*run_.snapshot()); !ready.empty()) {
            return is_replaced() ? over(follow_end::replaced) : ready;
        }
        const bool looks_up = options_.idle || options_.is_replaced;
        const auto interval = looks_up ? std::optional{options_.idle_interval} : std::nullopt;
        smdebug::detail::wait_outcome pause = smdebug::detail::wait_outcome::look_again;
        do {
            smdebug::detail::step_wait wait{
                *run_.state(), {.timeout = interval, .stop = options_.stop, .give_up_after = options_.give_up_after}};
            do {
                const auto from = wait.look();
                auto ready = complete_ones(*from);
                if ((!ready.empty() || from->loaded_all_steps) && is_replaced()) {
                    return over(follow_end::replaced);
                }
                if (!ready.empty()) {
                    return ready;
                }
                if (from->loaded_all_steps) {
                    return over(follow_end::ended);
                }
                if (options_.end && has_reached(*options_.end, *from)) {
                    return over(follow_end::end_step);
                }
                if (wait.given_up()) {
                    return over(follow_end::stalled);
                }
                pause = wait.pause();
            } while (pause == smdebug::detail::wait_outcome::look_again);
            if (pause == smdebug::detail::wait_outcome::timed_out) {
                if (is_replaced()) {
                    return over(follow_end::replaced);
                }
                if (options_.idle) {
                    options_.idle();
                }
            }
        } while (pause == smdebug::detail::wait_outcome::timed_out);
        return over(follow_end::interrupted);
    }

    [[nodiscard]] follow_end end() const noexcept { return end_; }
    /// How many were handed out.
    [[nodiscard]] std::size_t count() const noexcept { return delivered_.size(); }

private:
    [[nodiscard]] bool is_replaced() const { return options_.is_replaced && options_.is_replaced(); }

    [[nodiscard]] std::vector<step_number> complete_ones(const smdebug::detail::catalog& from) {
        std::vector<step_number> ready;
        // Files of further workers mostly change none of it.
        const progress now{from.steps.size(), from.last_complete_step, from.loaded_all_steps};
        if (now == searched_) {
            return ready;
        }
        // Where no step was added since the last walk over all of them, none lies between those handed out.
        const bool none_between = walked_ == from.steps.size() && !delivered_.empty();
        auto delivered = none_between ? delivered_.end() : delivered_.begin();
        for (auto entry = from.steps.lower_bound(none_between ? delivered_.back() + 1 : first_of(from));
             entry != from.steps.end(); ++entry) {
            const bool wanted = step_range{options_.start, options_.end}.contains(from.shown_step(*entry));
            if (!wanted && from.steps_are_synthetic) {
                continue;
            }
            const bool past = !wanted;
            const bool already = delivered != delivered_.end() && *delivered == entry->step;
            if (past || !from.complete(*entry) || ready.size() == options_.most || (already && !ready.empty())) {
                break;  // what is complete comes before what is not
            }
            if (already) {
                ++delivered;
            } else {
                ready.push_back(entry->step);
            }
        }
        walked_ = delivered == delivered_.end() ? from.steps.size() : 0;
        delivered_.insert(delivered, ready.begin(), ready.end());
        searched_ = ready.empty() ? now : searched_;
        return ready;
    }

    // Where the steps begin that may be wanted.
    [[nodiscard]] step_number first_of(const smdebug::detail::catalog& from) const noexcept {
        return from.steps_are_synthetic ? 0 : options_.start;
    }

    // Whether no step before `end` is to come; of a log each mode has to be there.
    [[nodiscard]] static bool has_reached(step_number end, const smdebug::detail::catalog& from) {
        const auto is_there = [&](mode in) { return from.last_step_of(in) < 0 || from.last_step_of(in) >= end - 1; };
        return from.steps_are_synthetic ? is_there(mode::train) && is_there(mode::eval) && is_there(mode::predict)
                                        : from.last_complete_step >= end - 1;
    }

    [[nodiscard]] std::vector<step_number> over(follow_end why) {
        end_ = why;
        return {};
    }

    /// What decides which steps are complete.
    struct progress {
        std::size_t steps = 0;
        step_number last_complete = -1;
        bool loaded = false;
        [[nodiscard]] friend bool operator==(const progress&, const progress&) = default;
    };

    const Trial& run_;
    feed_options options_;
    progress searched_;                   // when there was nothing to hand out
    std::vector<step_number> delivered_;  // ascending
    std::size_t walked_ = 0;              // the run's steps when all of them were walked; 0: they were not
    follow_end end_ = follow_end::interrupted;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
