// A rule's verdict at a step: whether its condition was met, and by which tensor; or a note.  Options and outcome of
// evaluating a rule over a run.
// Source: the Python package's Rule.invoke and invoke_rule.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
#include <smdebug/core/strict_math/needs_nan.ipp>
namespace smdebug::inline v1 {

/// A verdict about one step, or about one tensor at a step.  A plain finding{} means that the condition was not met;
/// one that is not met but has a message is a note: see note().
struct finding {
    bool met = false;         ///< the condition was met
    bool damaged = false;     ///< a note about a record that is damaged, missing or cannot be read
    std::string tensor = {};  ///< the tensor that met it, if it was a tensor
    std::string worker = {};
    std::string rule = {};       ///< its name; the caller of the rule sets this and the next three
    step_number step = -1;       ///< global
    step_number mode_step = -1;  ///< the same step, counted in its mode
    smdebug::mode mode = smdebug::mode::global;
    double value = std::numeric_limits<double>::quiet_NaN();      ///< the number that was compared ...
    double threshold = std::numeric_limits<double>::quiet_NaN();  ///< ... and what it was compared with
    std::string message = {};                                     ///< a sentence for people

    [[nodiscard]] explicit operator bool() const noexcept { return met; }

    /// A note: something that could not be judged, or that users should know.  A note is a finding with met == false
    /// and a message; it does not count as a violation.  `check`, `scan` and the programs of rules print it on standard
    /// error, databases list it among their messages, and rule_outcome::notes and on_note receive it.
    [[nodiscard]] static finding note(std::string text) {
        finding said;
        said.message = std::move(text);
        return said;
    }
};

namespace detail {

/// Whether a finding has a value to show: one of a rule that answers with a bool has none, others may have NaN.
[[nodiscard]] inline bool has_value(const finding& one) noexcept {
    return !is_nan(one.value) || !one.tensor.empty() || !one.message.empty();
}

}  // namespace detail

/// Options of invoke_rule.
struct invoke_options {
    step_number start_step = 0;
    std::optional<step_number> end_step = {};  ///< exclusive; the end of the run if unset
    bool stop_at_first = false;                ///< end at the first step that meets the condition
    bool first_offender = false;               ///< keep only the first finding of each step that meets the condition
    bool raise_eval_cond = false;              ///< throw rule_evaluation_condition_met there, as the Python package can
    /// How long to wait for each next step of a running job.  If unset, for ever.
    std::optional<std::chrono::milliseconds> timeout = {};
    std::stop_token stop = {};
    /// End the evaluation if the job runs but no new data has come for this long.  If unset, never.
    std::optional<std::chrono::milliseconds> give_up_after = {};
    bool keep_bands = false;  ///< fill rule_outcome::bands, for pictures
    /// Called for each finding that is met, as soon as it is found.
    std::function<void(step_number, const finding&)> on_finding = {};
    /// Called for each note (finding::note): something could not be judged, or users should know it.
    std::function<void(step_number, const finding&)> on_note = {};
    /// Called for each step that is skipped because a tensor or the step itself is missing.
    std::function<void(step_number, const error&)> on_skip = {};
};

/// Why the evaluation of a rule ended.
enum class invoke_end : std::uint8_t {
    end_step,       ///< end_step was reached
    end_of_run,     ///< the job has ended and every step was evaluated
    first_finding,  ///< stop_at_first
    timed_out,      ///< no new step within the timeout
    stalled,        ///< no new data for give_up_after: the job's process may have died
    stopped,        ///< the stop token
    failed,         ///< the rule threw; only where other rules continue (invoke_rules)
};

/// The result of invoke_rule.
struct rule_outcome {
    /// A number of a tensor in healthy runs, and the bounds beyond which the rule fires: see banded_rule.
    struct band {
        /// What holds from one mode step to another, both included.
        struct window {
            step_number first = 0;
            step_number last = 0;
            std::uint64_t runs = 0;  ///< the number of healthy runs
            double least = 0;        ///< in these
            double greatest = 0;
            double lower = -std::numeric_limits<double>::infinity();  ///< infinite: that side is not judged
            double upper = std::numeric_limits<double>::infinity();
        };
        std::string tensor = {};
        smdebug::mode mode = smdebug::mode::global;
        std::string number = {};           ///< "l2", "zeros", ... or "value", that of a tensor of one element
        std::vector<window> windows = {};  ///< ascending; what lies between two of them is not judged
    };

    std::vector<step_number> met_at = {};  ///< global steps, ascending
    std::vector<finding> findings = {};    ///< those that were met, in the order of their steps
    std::vector<finding> notes = {};       ///< the first most_notes findings that were not met and have a message
    static constexpr std::size_t most_notes = 100;
    std::size_t evaluated = 0;    ///< steps at which the rule was called and returned
    std::size_t skipped = 0;      ///< steps that lacked something that it needs
    std::string first_skip = {};  ///< why the first of them was skipped; empty if none was
    /// The amount that the rule had to judge: the saved tensors that it looked up, one for each step and worker, and
    /// the run's problems.
    std::size_t tensors = 0;
    std::size_t unread = 0;          ///< the part of these that could not be read: lost, damaged or unreachable
    std::string first_unread = {};   ///< why the first unread tensor was not read; empty if there is none
    std::size_t problems = 0;        ///< of `unread`: problems of the run, see basic_trial::problems()
    std::string first_problem = {};  ///< the first of these problems; empty if there is none
    /// Workers of the run that the rule ignored: its setting all_workers is off, so that it judged the first one by
    /// name.
    std::size_t other_workers = 0;
    std::vector<band> bands = {};  ///< only if invoke_options::keep_bands
    bool has_selected = true;      ///< false if no step has a tensor that the (built-in) rule is set to judge
    step_number next_step = 0;     ///< where a later call would continue
    invoke_end end = invoke_end::end_of_run;
};

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
