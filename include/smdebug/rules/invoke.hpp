// Calling a rule over the steps of a trial: once, or from a step on until the run ends.
// Used by: users, cli, tests/golden_replay.
// Source: the Python package's Rule.invoke and invoke_rule; decisions.md D29, D30.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/required_tensors.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// How invoke_rule goes on.
struct invoke_options {
    step_number start_step = 0;
    std::optional<step_number> end_step = {};  ///< exclusive; unset: to the end of the run
    bool stop_at_first = false;                ///< end at the first step that meets the condition
    bool raise_eval_cond = false;              ///< throw rule_evaluation_condition_met there, as the Python package can
    /// How long to wait for each next step of a running job.  Unset: for ever.
    std::optional<std::chrono::milliseconds> timeout = {};
    std::stop_token stop = {};
    /// Give up when the job has not ended and nothing new has come for so long.  Unset: never.
    std::optional<std::chrono::milliseconds> give_up_after = {};
    /// Called for each finding that is met, as it comes.
    std::function<void(step_number, const finding&)> on_finding = {};
    /// Called for each finding that is not met and has a message: a tensor that could not be judged.
    std::function<void(step_number, const finding&)> on_note = {};
    /// Called for each step that was skipped because a tensor or the step itself was not there.
    std::function<void(step_number, const error&)> on_skip = {};
};

/// Why invoke_rule came back.
enum class invoke_end : std::uint8_t {
    end_step,       ///< the step to end at was reached
    end_of_run,     ///< the job has ended and every step was seen
    first_finding,  ///< stop_at_first
    timed_out,      ///< no new step within the timeout
    stalled,        ///< nothing new for give_up_after: the job's process may have died
    stopped,        ///< the stop token
};

/// What invoke_rule found.
struct rule_outcome {
    std::vector<step_number> met_at = {};         ///< global steps, ascending
    std::vector<finding> findings = {};           ///< those that were met, in the order of their steps
    std::vector<step_number> finding_steps = {};  ///< the step of each finding
    std::size_t evaluated = 0;                    ///< steps at which the rule was called to its end
    std::size_t skipped = 0;                      ///< steps at which something that it needs was missing
    step_number next_step = 0;                    ///< where a later call would go on
    invoke_end end = invoke_end::end_of_run;
};

namespace detail {

// Findings that say something: met, or a note.
[[nodiscard]] inline std::vector<finding> telling(std::vector<finding> all) {
    std::erase_if(all, [](const finding& one) { return !one.met && one.message.empty(); });
    return all;
}
[[nodiscard]] inline std::vector<finding> telling(finding one) { return telling(std::vector<finding>{std::move(one)}); }

template <class T>
concept waits_for_steps = requires(const T& trial, const std::vector<step_number>& steps, const wait_options& how) {
    trial.wait_for_steps(steps, how);
};

template <class T>
concept reads_steps_ahead = requires(const T& trial, step_number step) {
    trial.read_ahead(step);
};

inline void skip(const invoke_options& options, rule_outcome& outcome, step_number step, const error& missing) {
    ++outcome.skipped;
    if (options.on_skip) {
        options.on_skip(step, missing);
    }
}

/// Whether an error says that something the rule needs was not saved.
[[nodiscard]] inline bool means_skip(const not_found& missing) noexcept {
    return dynamic_cast<const tensor_unavailable*>(&missing) != nullptr ||
           dynamic_cast<const tensor_unavailable_for_step*>(&missing) != nullptr ||
           dynamic_cast<const step_unavailable*>(&missing) != nullptr ||
           dynamic_cast<const no_more_data*>(&missing) != nullptr;
}

/// Sorts a step's findings into the outcome and the callbacks.  Returns whether any was met.
inline bool hand_over(std::vector<finding>& found, const invoke_options& options, rule_outcome& outcome,
                      step_number step) {
    bool met = false;
    for (finding& one : found) {
        const auto& callback = one.met ? options.on_finding : options.on_note;
        if (callback) {
            callback(step, one);
        }
        if (one.met) {
            met = true;
            outcome.finding_steps.push_back(step);
            outcome.findings.push_back(std::move(one));
        }
    }
    if (met) {
        outcome.met_at.push_back(step);
    }
    return met;
}

}  // namespace detail

namespace detail {

/// Calls a rule at a step that is there, with refreshing off, after making sure of the tensors that it requires.
template <class Rule, class Trial>
[[nodiscard]] std::vector<finding> call_rule(Rule& callable, const Trial& run, step_number step,
                                             const wait_options& how) {
    const auto call = [&] {
        if constexpr (requires_tensors<Rule, Trial>) {
            required_tensors<Trial> required{run};
            callable.require(run, step, required);
            required.fetch(how);
        }
        return telling(callable(run, step));
    };
    const auto call_quietly = [&](const auto&... others) {
        if constexpr (refreshable_trial<Trial>) {
            const no_refresh guard{run, others...};
            return call();
        } else {
            return call();
        }
    };
    if constexpr (compares_trials<Rule>) {
        return std::apply(call_quietly, callable.other_trials());
    } else {
        return call_quietly();
    }
}

/// The saved steps from one on, asked for in bulk: again only when those that are known have been walked.
template <class Trial>
class step_walk {
public:
    explicit step_walk(const Trial& run) : run_(run) {}

    /// The first saved step that is not below `from`; nothing where there is none yet.
    [[nodiscard]] std::optional<step_number> next(step_number from) {
        for (const bool asked : {false, true}) {
            if (asked) {
                steps_ = known_steps();
                at_ = 0;
            }
            while (at_ < steps_.size() && steps_[at_] < from) {
                ++at_;
            }
            if (at_ < steps_.size()) {
                return steps_[at_];
            }
        }
        return std::nullopt;
    }

    /// Tells the trial, if it wants to know, of the next steps behind the last one that next() gave: of each once, of
    /// none from `end` on, and only of those that are known.
    void read_ahead(std::optional<step_number> end) {
        if constexpr (reads_steps_ahead<Trial>) {
            const std::size_t last = std::min(at_ + 1 + steps_ahead, steps_.size());
            for (std::size_t i = at_ + 1; i < last && (!end || steps_[i] < *end); ++i) {
                if (steps_[i] >= not_told_) {
                    run_.read_ahead(steps_[i]);
                    not_told_ = steps_[i] + 1;
                }
            }
        }
    }

private:
    static constexpr std::size_t steps_ahead = 4;

    // Where steps are waited for, the wait looks for new ones.
    [[nodiscard]] std::vector<step_number> known_steps() const {
        const steps_options all{.show_incomplete_steps = true};
        if constexpr (waits_for_steps<Trial> && refreshable_trial<Trial>) {
            const no_refresh guard{run_};
            return run_.steps(all);
        } else {
            return run_.steps(all);
        }
    }

    const Trial& run_;
    std::vector<step_number> steps_;
    std::size_t at_ = 0;
    step_number not_told_ = 0;  // the trial has been told of those below
};

/// Waits for a step.  Returns why there is nothing to call the rule at: invoke_end, or nothing when the step is there.
/// `skipped` says that it will never be there, but later ones are.
template <class Trial>
[[nodiscard]] std::optional<invoke_end> wait_for_step(const Trial& run, step_number step, const wait_options& how,
                                                      bool& skipped) {
    if constexpr (waits_for_steps<Trial>) {
        try {
            run.wait_for_steps({step}, how);
        } catch (const no_more_data&) {
            return invoke_end::end_of_run;
        } catch (const stalled&) {
            return invoke_end::stalled;
        } catch (const timed_out&) {
            return invoke_end::timed_out;
        } catch (const stopped&) {
            return invoke_end::stopped;
        } catch (const step_unavailable&) {
            skipped = true;
        }
    }
    return std::nullopt;
}

}  // namespace detail

/// Calls a rule at one global step: waits for the step, then, with refreshing off, makes sure of the tensors that the
/// rule requires, and calls it.  Returns the findings that are met, and notes; nothing when there are neither.
/// Errors: what wait_for_steps throws (step_unavailable, no_more_data, timed_out, stopped), tensor_unavailable,
///         tensor_unavailable_for_step, and whatever the rule throws.
template <class Rule, class Trial>
requires rule<Rule, Trial>
[[nodiscard]] std::vector<finding> evaluate_rule(Rule& callable, const Trial& run, step_number step,
                                                 const wait_options& how = {}) {
    if constexpr (detail::waits_for_steps<Trial>) {
        run.wait_for_steps({step}, how);
    }
    return detail::call_rule(callable, run, step, how);
}

/// Calls a rule at every saved global step from start_step up to, not including, end_step, waiting for new ones while
/// the job runs.  Steps that lack something the rule needs are skipped.
/// Errors:  rule_evaluation_condition_met if asked for; whatever the rule throws that does not mean "not there".
/// Cost:    grows with the saved steps, not with their numbers; a running job is listed when the known steps are done.
///          A trial in a storage far away is told of the next steps before each call (read_ahead).
/// Threads: rules may run over one trial on several threads; while any of them is in a call, none refreshes the trial.
template <class Rule, class Trial>
requires rule<std::remove_reference_t<Rule>, Trial> rule_outcome invoke_rule(Rule&& callable, const Trial& run,
                                                                             const invoke_options& options = {}) {
    rule_outcome outcome;
    outcome.next_step = options.start_step;
    const wait_options how{.timeout = options.timeout, .stop = options.stop, .give_up_after = options.give_up_after};
    const auto finished = [&](invoke_end why) {
        outcome.end = why;
        return outcome;
    };
    detail::step_walk walk{run};
    while (true) {
        const std::optional<step_number> saved = walk.next(outcome.next_step);
        if (!saved && !detail::waits_for_steps<Trial>) {
            return finished(invoke_end::end_of_run);
        }
        const step_number step = saved.value_or(outcome.next_step);
        if (options.end_step && step >= *options.end_step) {
            outcome.next_step = *options.end_step;
            return finished(invoke_end::end_step);
        }
        if (options.stop.stop_requested()) {
            return finished(invoke_end::stopped);
        }
        bool passed_over = false;
        if (const auto over = detail::wait_for_step(run, step, how, passed_over)) {
            return finished(*over);
        }
        outcome.next_step = step + 1;
        if (passed_over) {  // a number between two saved steps is no step that was skipped
            continue;
        }
        walk.read_ahead(options.end_step);
        std::vector<finding> found;
        try {
            found = detail::call_rule(callable, run, step, how);
            ++outcome.evaluated;
        } catch (const stalled&) {  // waiting for a step that the rule requires
            outcome.next_step = step;
            return finished(invoke_end::stalled);
        } catch (const timed_out&) {
            outcome.next_step = step;
            return finished(invoke_end::timed_out);
        } catch (const stopped&) {
            outcome.next_step = step;
            return finished(invoke_end::stopped);
        } catch (const not_found& missing) {
            if (!detail::means_skip(missing)) {
                throw;
            }
            detail::skip(options, outcome, step, missing);
        }
        if (!detail::hand_over(found, options, outcome, step)) {
            continue;
        }
        if (options.raise_eval_cond) {
            throw rule_evaluation_condition_met(name_of_rule(callable), step, outcome.findings.back().message);
        }
        if (options.stop_at_first) {
            return finished(invoke_end::first_finding);
        }
    }
}

}  // namespace v1
}  // namespace smdebug
