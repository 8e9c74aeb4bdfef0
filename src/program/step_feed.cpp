#include <program/step_feed.hpp>

#include <smdebug/trial/load/wait.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <utility>

namespace smdebug::inline v1::cli::detail {

step_feed::step_feed(const trial& run, feed_options options) : run_(run), options_(std::move(options)) {}

std::vector<step_number> step_feed::next() {
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

std::vector<step_number> step_feed::complete_ones(const smdebug::detail::catalog& from) {
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
