#include <program/step_feed.hpp>

#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::cli::detail {

step_feed::step_feed(const trial& run, feed_options options) : run_(run), options_(std::move(options)) {}

std::vector<step_number> step_feed::next(clock::time_point until) {
    end_.reset();
    if (options_.stop.stop_requested()) {
        return over(follow_end::interrupted);
    }
    if (auto ready = complete_ones(*smdebug::detail::catalog_of(run_)); !ready.empty()) {
        return is_replaced() ? over(follow_end::replaced) : ready;
    }
    const bool looks_up = options_.idle || options_.is_replaced;
    smdebug::detail::wait_outcome pause = smdebug::detail::wait_outcome::look_again;
    do {
        const auto left = until == clock::time_point::max()
                              ? std::chrono::milliseconds::max()
                              : std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
        if (left.count() <= 0) {
            return {};
        }
        const auto interval = std::min(looks_up ? options_.idle_interval : left, left);
        smdebug::detail::step_wait wait{
            *smdebug::detail::state_of(run_),
            {.timeout = interval == std::chrono::milliseconds::max() ? std::nullopt : std::optional{interval},
             .stop = options_.stop,
             .give_up_after = options_.give_up_after}};
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

void step_feed::start_over() {
    handed_out_.clear();
    rewritten_.reset();
    searched_ = {};
    walked_ = 0;
}

std::vector<step_number> step_feed::complete_ones(const smdebug::detail::catalog& from) {
    std::vector<step_number> ready;
    // Files of further workers mostly change none of it.
    const progress now{from.steps.size(), from.last_complete_step, from.loaded_all_steps, from.load};
    if (now == searched_) {
        return ready;
    }
    // Where only the end has grown since the last walk, nothing has changed among those handed out.  The last of them
    // may have been gone, and be at the end again.
    const auto* const last = handed_out_.empty() ? nullptr : from.find_step(handed_out_.back().step);
    const bool only_end = from.last_disorder <= walked_ && last != nullptr && last->load == handed_out_.back().load;
    auto known = only_end ? handed_out_.end() : handed_out_.begin();
    bool all_walked = true;
    for (auto entry = from.steps.lower_bound(only_end ? handed_out_.back().step + 1 : first_of(from));
         entry != from.steps.end(); ++entry) {
        const bool wanted = step_range{options_.start, options_.end}.contains(from.shown_step(*entry));
        if (!wanted && from.steps_are_synthetic) {
            continue;
        }
        known = std::find_if(known, handed_out_.end(), [&](const handed_out& one) { return one.step >= entry->step; });
        const bool is_known = known != handed_out_.end() && known->step == entry->step;
        const bool as_it_was = is_known && known->load == entry->load;
        // What is complete comes before what is not.
        if (!wanted || !from.complete(*entry) || ready.size() == options_.most || (as_it_was && !ready.empty())) {
            all_walked = known == handed_out_.end();
            break;
        }
        if (!as_it_was) {
            ready.push_back(entry->step);
        }
    }
    walked_ = all_walked ? from.load : walked_;
    note_handed_out(from, ready);
    searched_ = ready.empty() ? now : searched_;
    return ready;
}

void step_feed::note_handed_out(const smdebug::detail::catalog& from, const std::vector<step_number>& ready) {
    went_back_ = !ready.empty() && !handed_out_.empty() && ready.front() <= handed_out_.back().step;
    for (const step_number step : ready) {
        const auto* const entry = from.find_step(step);
        const handed_out now{step, entry->load, entry->file_count};
        const auto place = std::lower_bound(handed_out_.begin(), handed_out_.end(), step,
                                            [](const handed_out& one, step_number other) { return one.step < other; });
        if (place == handed_out_.end() || place->step != step) {
            handed_out_.insert(place, now);
            continue;
        }
        if (from.has_index && now.files <= place->files) {
            rewritten_ = {std::min(rewritten_.value_or(std::pair{step, step}).first, step),
                          std::max(rewritten_.value_or(std::pair{step, step}).second, step)};
        }
        *place = now;
    }
}

step_number step_feed::first_of(const smdebug::detail::catalog& from) const noexcept {
    return from.steps_are_synthetic ? 0 : options_.start;
}

bool step_feed::has_reached(step_number end, const smdebug::detail::catalog& from) {
    const auto is_there = [&](mode in) { return from.last_step_of(in) < 0 || from.last_step_of(in) >= end - 1; };
    return from.steps_are_synthetic ? is_there(mode::train) && is_there(mode::eval) && is_there(mode::predict)
                                    : from.last_complete_step >= end - 1;
}

std::vector<step_number> step_feed::over(follow_end why) {
    end_ = why;
    return {};
}

}  // namespace smdebug::inline v1::cli::detail
