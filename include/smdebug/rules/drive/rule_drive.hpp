// Rules over the steps of a run: the one loop behind invoke_rule and invoke_rules.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/problem.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/drive/erased_rule.hpp>
#include <smdebug/rules/drive/read_tally.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Callbacks for the findings of rules, with the rule's place among them; all may be empty.
struct drive_listener {
    std::function<void(step_number)> on_step = {};  ///< once a step, before the rules
    std::function<void(std::size_t rule, step_number, const finding&)> on_finding = {};
    std::function<void(std::size_t rule, step_number, const finding&)> on_note = {};
    std::function<void(std::size_t rule, step_number, const error&)> on_skip = {};
};

/// The callbacks that the options of one rule have.  Borrows them.
[[nodiscard]] drive_listener listener_of(const invoke_options& options);

/// The progress of one rule over a run.
struct rule_progress {
    std::optional<std::chrono::milliseconds> poll_interval = {};  ///< unset: it is not polled
    read_tally tally = {};
    rule_outcome outcome = {};
    bool over = false;
    std::exception_ptr failure = {};

    void end(invoke_end why, step_number next_step);
};

/// Maps the error that ended a wait to the end of the evaluation.
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

template <class T>
concept reads_steps_ahead = requires(const T& trial, step_number step) { trial.read_ahead(step); };

/// Walks a run with some rules: by go(), or step by step with visit() and idle().  A rule that throws, or whose
/// settings make no sense, ends alone.  Borrows the run and the options.
template <class Run>
class rule_drive {
public:
    using rule_pointer = std::shared_ptr<erased_rule<Run>>;

    rule_drive(const Run& run, std::vector<rule_pointer> rules, const invoke_options& options,
               drive_listener listener = {});

    void go();

    /// The same for one rule, which throws what it throws.
    [[nodiscard]] rule_outcome go_alone();

    /// Calls the rules that are not over at a step that is there.
    void visit(step_number step);

    /// Polls the rules that measure time, while `next_step` is waited for.
    void idle(step_number next_step);

    /// How often that is to be; nothing where no rule is polled.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const;

    [[nodiscard]] bool all_over() const {
        return std::all_of(progress_.begin(), progress_.end(), [](const rule_progress& each) { return each.over; });
    }
    void end_all(invoke_end why, step_number next_step);

    [[nodiscard]] const std::vector<rule_pointer>& rules() const noexcept { return rules_; }
    /// Of each of them, in their order.
    [[nodiscard]] const std::vector<rule_progress>& progress() const noexcept { return progress_; }
    /// What one of them has found so far; the run's problems count as what it could not read.
    [[nodiscard]] rule_outcome outcome_of(std::size_t rule) const;

private:
    /// The first saved step that is not below `from`; nothing where there is none yet.  Steps are asked for in bulk: again
    /// only when those that are known have been walked.
    [[nodiscard]] std::optional<step_number> next_saved(step_number from);
    /// Has the trial, if it can, read ahead the next four known steps behind the one that next_saved() gave.
    void read_ahead();

    [[nodiscard]] named_step named(step_number step) const;

    void evaluate(std::size_t rule, step_number step);

    /// Counts what a call looked up, unless it was interrupted: then data look missing.
    void count_reads(rule_progress& each, const std::vector<finding>& findings,
                     const std::exception_ptr& skipped) const;

    // Outside of the rule's call: what a listener throws is not the rule's failure.
    void skip(std::size_t rule, step_number step, const std::exception_ptr& why);

    /// Sorts a step's findings into the rule's outcome and tells the listener.
    void take(std::size_t rule, std::vector<finding> findings, step_number step);

    /// Waits for a step.  Returns why there is nothing to call rules at; nothing when the step is there.  `passed_over`
    /// says that it will never be there, but later ones are.
    [[nodiscard]] std::optional<invoke_end> wait_for(step_number step, bool& passed_over);

    const Run& run_;
    read_log* log_ = nullptr;  // of the rule that is being called; null: look-ups cannot be logged
    std::vector<rule_pointer> rules_;
    std::vector<rule_progress> progress_;
    const invoke_options& options_;
    drive_listener listener_;
    named_step now_;
    std::vector<step_number> steps_;
    std::size_t place_ = 0;      // the step that next_saved() gave, in steps_
    step_number asked_for_ = 0;  // steps before this one were read ahead
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/drive/impl/rule_drive.ipp>
#endif

#include <smdebug/rules/drive/impl/rule_drive.tpp>

#ifdef SMDEBUG_COMPILED
namespace smdebug {
inline namespace v1 {

extern template class detail::rule_drive<trial>;

}  // namespace v1
}  // namespace smdebug
#endif
