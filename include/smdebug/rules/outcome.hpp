// Options and outcome of evaluating a rule over a run.
// Source: the Python package's Rule.invoke and invoke_rule.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/rules/finding.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Options of invoke_rule.
struct invoke_options {
    step_number start_step = 0;
    std::optional<step_number> end_step = {};  ///< exclusive; unset: to the end of the run
    bool stop_at_first = false;                ///< end at the first step that meets the condition
    bool first_offender = false;               ///< of a step that meets the condition keep the first finding only
    bool raise_eval_cond = false;              ///< throw rule_evaluation_condition_met there, as the Python package can
    /// How long to wait for each next step of a running job.  Unset: for ever.
    std::optional<std::chrono::milliseconds> timeout = {};
    std::stop_token stop = {};
    /// Give up when the job has not ended and nothing new has come for so long.  Unset: never.
    std::optional<std::chrono::milliseconds> give_up_after = {};
    /// Called for each finding that is met, as it comes.
    std::function<void(step_number, const finding&)> on_finding = {};
    /// Called for each note (finding::note): what could not be judged, or what the rule only wants to say.
    std::function<void(step_number, const finding&)> on_note = {};
    /// Called for each step that was skipped because a tensor or the step itself was not there.
    std::function<void(step_number, const error&)> on_skip = {};
};

/// Why the evaluation of a rule ended.
enum class invoke_end : std::uint8_t {
    end_step,       ///< the step to end at was reached
    end_of_run,     ///< the job has ended and every step was seen
    first_finding,  ///< stop_at_first
    timed_out,      ///< no new step within the timeout
    stalled,        ///< nothing new for give_up_after: the job's process may have died
    stopped,        ///< the stop token
    failed,         ///< the rule threw; only where other rules go on (invoke_rules)
};

/// What invoke_rule found.
struct rule_outcome {
    std::vector<step_number> met_at = {};  ///< global steps, ascending
    std::vector<finding> findings = {};    ///< those that were met, in the order of their steps
    std::vector<finding> notes = {};       ///< the first most_notes that were not met and have a message
    static constexpr std::size_t most_notes = 100;
    std::size_t evaluated = 0;  ///< steps at which the rule was called to its end
    std::size_t skipped = 0;    ///< steps at which something that it needs was missing
    /// Tensors that were saved and that it asked for, one for each step and worker, and the run's problems: what it was to
    /// look at.
    std::size_t tensors = 0;
    std::size_t unread = 0;          ///< of these: could not be read, as they are lost, damaged or out of reach
    std::string first_unread = {};   ///< why, of the first tensor among them; empty if there is none
    std::size_t problems = 0;        ///< of `unread`: problems of the run, see basic_trial::problems()
    std::string first_problem = {};  ///< the first of them; empty if there is none
    /// Workers of the run that it did not look at: its setting all_workers is off, so that it looked at the first by name.
    std::size_t other_workers = 0;
    bool has_selected = true;   ///< false: at no step any tensor was what the rule, a built-in one, is set to look at
    step_number next_step = 0;  ///< where a later call would go on
    invoke_end end = invoke_end::end_of_run;
};

}  // namespace v1
}  // namespace smdebug
