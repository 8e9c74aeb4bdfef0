// Rules over the steps of a run: the one loop behind invoke_rule and invoke_rules.
// Used by: rules/invoke.hpp, rules/invoke_rules.hpp.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/evaluate.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/rules/read_log.hpp>
#include <smdebug/rules/step_walk.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Who is told of what one rule finds; all may be empty.
struct rule_listener {
    std::function<void(step_number, const finding&)> on_finding = {};
    std::function<void(step_number, const finding&)> on_note = {};
    std::function<void(step_number, const error&)> on_skip = {};
};

/// One rule on its way over a run, whatever its type.
struct driven_rule {
    std::string name;
    /// Calls it at a step that is there.
    std::function<std::vector<finding>(step_number, const wait_options&)> call;
    /// Asks it while the next step is waited for; empty where it does not care.
    std::function<std::optional<finding>()> poll = {};
    std::chrono::milliseconds poll_interval{0};
    step_range range = {};  ///< it is called at these steps only
    rule_listener listener = {};
    std::shared_ptr<read_log> log = {};  ///< of the trial that it is called with; null: there is none
    read_tally tally = {};
    rule_outcome outcome = {};
    bool over = false;
    std::exception_ptr failure = {};
};

inline void end_rule(driven_rule& each, invoke_end why, step_number next_step) {
    if (!each.over) {
        each.over = true;
        each.outcome.end = why;
        each.outcome.next_step = next_step;
    }
}

/// Sorts a step's findings into the outcome and tells the listener.  Returns whether any was met.
inline bool hand_over(driven_rule& each, std::vector<finding> found, step_number step, bool first_only) {
    bool met = false;
    for (finding& one : found) {
        if (met && one.met && first_only) {
            continue;
        }
        const auto& callback = one.met ? each.listener.on_finding : each.listener.on_note;
        if (callback) {
            callback(step, one);
        }
        if (one.met) {
            met = true;
            each.outcome.findings.push_back(std::move(one));
        }
    }
    if (met) {
        each.outcome.met_at.push_back(step);
    }
    return met;
}

/// What an end of waiting means: which end it is, thrown as which error.
template <class Wait>
[[nodiscard]] std::optional<invoke_end> end_of_wait(Wait&& wait) {
    try {
        wait();
    } catch (const stalled&) {
        return invoke_end::stalled;
    } catch (const timed_out&) {
        return invoke_end::timed_out;
    } catch (const stopped&) {
        return invoke_end::stopped;
    }
    return std::nullopt;
}

/// Walks a run with some rules: go(), or whoever knows the steps says visit() and idle().  `begin_step` is called once
/// a step, before the rules.
template <class Trial, class BeginStep>
class rule_drive {
public:
    rule_drive(const Trial& run, std::span<driven_rule> rules, const invoke_options& options, bool isolate,
               BeginStep begin_step)
        : run_(run), rules_(rules), options_(options), isolate_(isolate), begin_step_(std::move(begin_step)) {}

    void go() {
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

    /// Calls the rules that are not over at a step that is there.
    void visit(step_number step) {
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

    /// Asks the rules that want to be asked while `next_step` is waited for.
    void idle(step_number next_step) {
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

    /// How often that is to be; nothing where none wants to be asked.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const {
        std::optional<std::chrono::milliseconds> least;
        for (const driven_rule& each : rules_) {
            if (!each.over && each.poll && (!least || each.poll_interval < *least)) {
                least = each.poll_interval;
            }
        }
        return least;
    }

    [[nodiscard]] bool all_over() const {
        return std::all_of(rules_.begin(), rules_.end(), [](const driven_rule& each) { return each.over; });
    }
    void end_all(invoke_end why, step_number next_step) {
        for (driven_rule& each : rules_) {
            end_rule(each, why, next_step);
        }
    }

private:
    [[nodiscard]] named_step named(step_number step) const {
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

    void evaluate(driven_rule& each, step_number step) {
        const wait_options how{
            .timeout = options_.timeout, .stop = options_.stop, .give_up_after = options_.give_up_after};
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

    /// What is behind a call is counted, unless it was broken off: then things look as if they were missing.
    void count_reads(driven_rule& each, const std::vector<finding>& found, const std::exception_ptr& skipped) const {
        if (options_.stop.stop_requested()) {
            return;
        }
        const auto asked = each.log ? std::optional{each.log->end()} : std::nullopt;
        const auto count = [&](const error* why) {
            each.tally.add(asked ? &*asked : nullptr, found, why, each.outcome);
        };
        if (!skipped) {
            return count(nullptr);
        }
        try {
            std::rethrow_exception(skipped);
        } catch (const error& missing) {
            count(&missing);
        }
    }

    // Not where the rule is called: what a listener throws is not the rule's failure.
    static void skip(driven_rule& each, step_number step, const std::exception_ptr& why) {
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

    void take(driven_rule& each, std::vector<finding> found, step_number step) {
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

    // Waiting ------------------------------------------------------------------------------------------------------

    /// Waits for a step.  Returns why there is nothing to call rules at; nothing when the step is there.  `passed_over`
    /// says that it will never be there, but later ones are.
    [[nodiscard]] std::optional<invoke_end> wait_for(step_number step, bool& passed_over) {
        if constexpr (waits_for_steps<Trial>) {
            using std::chrono::milliseconds;
            wait_options how{
                .timeout = options_.timeout, .stop = options_.stop, .give_up_after = options_.give_up_after};
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

    const Trial& run_;
    std::span<driven_rule> rules_;
    const invoke_options& options_;
    bool isolate_;  // a rule that throws ends alone
    named_step at_;
    BeginStep begin_step_;
};

/// What a driver does with a rule that is asked while it waits.
template <class Rule, class Trial>
void let_poll(driven_rule& each, Rule& callable, const Trial& run) {
    if constexpr (polled_rule<Rule, Trial>) {
        callable.start();
        each.poll = [&callable, &run] { return callable.while_waiting(run); };
        each.poll_interval = callable.poll_interval();
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
