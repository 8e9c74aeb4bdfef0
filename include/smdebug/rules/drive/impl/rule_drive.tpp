// The bodies of <smdebug/rules/drive/rule_drive.hpp> that are templates.
#pragma once

#include <smdebug/rules/drive/evaluate.hpp>
#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/rules/drive/step_walk.hpp>
#include <smdebug/trial/refresh_guard.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::go() {
    step_walk<Trial> walk{run_};
    step_number next = options_.start_step;
    for (driven_rule& each : rules_) {
        each.outcome.next_step = next;
    }
    while (!all_over()) {
        const std::optional<step_number> saved = walk.next(next);
        if (!saved && !waits_for_steps<Trial>) {
            return end_all(invoke_end::end_of_run, next);
        }
        const step_number step = saved.value_or(next);
        if (options_.end_step && step >= *options_.end_step) {
            return end_all(invoke_end::end_step, *options_.end_step);
        }
        if (options_.stop.stop_requested()) {
            return end_all(invoke_end::stopped, next);
        }
        bool passed_over = false;
        if (const auto over = wait_for(step, passed_over)) {
            return end_all(*over, next);
        }
        next = step + 1;
        if (passed_over) {  // a number between two saved steps is no step that was skipped
            continue;
        }
        walk.read_ahead(options_.end_step);
        visit(step);
    }
}

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::visit(step_number step) {
    begin_step_(step);
    at_ = named(step);
    for (driven_rule& each : rules_) {
        if (!each.over && each.range.end && step >= *each.range.end) {
            end_rule(each, invoke_end::end_step, *each.range.end);
        }
        if (!each.over && each.range.contains(step)) {
            each.outcome.next_step = step + 1;
            evaluate(each, step);
        }
    }
}

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::idle(step_number next_step) {
    for (driven_rule& each : rules_) {
        if (each.over || !each.poll) {
            continue;
        }
        if (std::optional<finding> found = each.poll()) {
            if (found->step < 0) {
                found->step = options_.start_step;
            }
            each.outcome.next_step = next_step;
            const step_number at = found->step;
            std::vector<finding> one{*std::move(found)};
            one.front().rule = each.name;
            name_step(one, run_, at);
            take(each, std::move(one), at);
        }
    }
}

template <class Trial, class BeginStep>
std::optional<std::chrono::milliseconds> rule_drive<Trial, BeginStep>::poll_interval() const {
    std::optional<std::chrono::milliseconds> least;
    for (const driven_rule& each : rules_) {
        if (!each.over && each.poll && (!least || each.poll_interval < *least)) {
            least = each.poll_interval;
        }
    }
    return least;
}

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::end_all(invoke_end why, step_number next_step) {
    for (driven_rule& each : rules_) {
        end_rule(each, why, next_step);
    }
}

template <class Trial, class BeginStep>
named_step rule_drive<Trial, BeginStep>::named(step_number step) const {
    const auto name = [&] {
        return named_step{step, run_.mode(step).value_or(mode::global), run_.mode_step(step).value_or(step)};
    };
    if constexpr (refreshable_trial<Trial>) {
        const no_refresh guard{run_};
        return name();
    } else {
        return name();
    }
}

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::evaluate(driven_rule& each, step_number step) {
    const wait_options how{.timeout = options_.timeout, .stop = options_.stop, .give_up_after = options_.give_up_after};
    std::vector<finding> found;
    std::exception_ptr skipped;
    if (each.log) {
        each.log->begin(at_);
    }
    const auto call = [&] {
        try {
            found = each.call(step, how);
        } catch (const not_found& missing) {
            if (!means_skip(missing)) {
                throw;
            }
            skipped = std::current_exception();
        }
    };
    try {
        if (const auto waiting = end_of_wait(call)) {  // for a step that the rule requires
            end_rule(each, *waiting, step);
            return;
        }
    } catch (...) {
        count_reads(each, {}, {});
        if (!isolate_) {
            throw;
        }
        each.failure = std::current_exception();
        end_rule(each, invoke_end::failed, step);
        return;
    }
    count_reads(each, found, skipped);
    if (skipped) {
        skip(each, step, skipped);
        return;
    }
    ++each.outcome.evaluated;
    take(each, std::move(found), step);
}

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::count_reads(driven_rule& each, const std::vector<finding>& found,
                                               const std::exception_ptr& skipped) const {
    if (options_.stop.stop_requested()) {
        return;
    }
    const auto asked = each.log ? std::optional{each.log->end()} : std::nullopt;
    const auto count = [&](const error* why) { each.tally.add(asked ? &*asked : nullptr, found, why, each.outcome); };
    if (!skipped) {
        return count(nullptr);
    }
    try {
        std::rethrow_exception(skipped);
    } catch (const error& missing) {
        count(&missing);
    }
}

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::skip(driven_rule& each, step_number step, const std::exception_ptr& why) {
    ++each.outcome.skipped;
    if (!each.listener.on_skip) {
        return;
    }
    try {
        std::rethrow_exception(why);
    } catch (const error& missing) {
        each.listener.on_skip(step, missing);
    }
}

template <class Trial, class BeginStep>
void rule_drive<Trial, BeginStep>::take(driven_rule& each, std::vector<finding> found, step_number step) {
    if (!hand_over(each, std::move(found), step, options_.first_offender)) {
        return;
    }
    if (options_.raise_eval_cond) {
        throw rule_evaluation_condition_met(each.name, step, each.outcome.findings.back().message);
    }
    if (options_.stop_at_first) {
        end_rule(each, invoke_end::first_finding, each.outcome.next_step);
    }
}

template <class Trial, class BeginStep>
std::optional<invoke_end> rule_drive<Trial, BeginStep>::wait_for(step_number step, bool& passed_over) {
    if constexpr (waits_for_steps<Trial>) {
        using std::chrono::milliseconds;
        wait_options how{.timeout = options_.timeout, .stop = options_.stop, .give_up_after = options_.give_up_after};
        std::optional<milliseconds> left = options_.timeout;
        while (true) {
            const std::optional<milliseconds> slice = poll_interval();
            const bool sliced = slice && (!left || *slice < *left);
            how.timeout = sliced ? slice : left;
            std::optional<invoke_end> over;
            try {
                over = end_of_wait([&] { run_.wait_for_steps({step}, how); });
            } catch (const no_more_data&) {
                over = invoke_end::end_of_run;
            } catch (const step_unavailable&) {
                passed_over = true;
            }
            if (over != invoke_end::timed_out || !sliced) {
                return over;
            }
            idle(step);
            if (all_over()) {
                return invoke_end::first_finding;  // each has its own end already
            }
            if (left) {
                left = *left - *slice;
            }
        }
    }
    return std::nullopt;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
