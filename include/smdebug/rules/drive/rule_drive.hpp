// The loop that calls rules over the steps of a run, used by invoke_rule and invoke_rules.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/shared/rule_view.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace smdebug::inline v1::detail {

/// Counts the look-ups of one rule over a run.  An unreadable tensor counts once, even if the rule looks it up again at
/// later steps.
/// Memory: a few bytes for each of the last 100,000 or so unreadable tensors.
class read_tally {
public:
    /// Records one call.  `skipped`: why it skipped the step, null if it did not.
    /// `asked`: the look-ups of this call; null if the trial keeps no log, empty if the rule bypasses it.  Without
    /// look-ups, the rule's unreadable notes and errors are counted instead, and a step with neither counts as one
    /// tensor.
    void add(const read_log::entries* asked, const std::vector<finding>& findings, const error* skipped,
             rule_outcome& to);
    /// Whether any call took the handle of a tensor.
    [[nodiscard]] bool has_selected() const noexcept { return has_selected_; }

private:
    static constexpr std::size_t most_known = 100'000;

    [[nodiscard]] bool is_new(const record_key& one);
    [[nodiscard]] static record_key key_of_note(std::string_view tensor, std::string_view worker, std::string_view why);

    std::unordered_set<std::uint64_t> counted_;
    bool has_selected_ = false;
    bool watched_ = false;         // a tensor was looked up
    std::size_t quiet_calls_ = 0;  // calls without a look-up, a loss or a skip
};

/// Callbacks for the findings of rules, with the rule's index; all may be empty.
struct drive_listener {
    std::function<void(step_number)> on_step = {};  ///< once a step, before the rules
    std::function<void(std::size_t rule, step_number, const finding&)> on_finding = {};
    std::function<void(std::size_t rule, step_number, const finding&)> on_note = {};
    std::function<void(std::size_t rule, step_number, const error&)> on_skip = {};
};

/// The callbacks from the options of one rule.  Borrows them.
[[nodiscard]] drive_listener listener_of(const invoke_options& options);

/// The progress of one rule over a run.
struct rule_progress {
    std::optional<std::chrono::milliseconds> poll_interval = {};  ///< unset if it is not polled
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
        return std::nullopt;
    } catch (const unavailable& ended) {
        switch (ended.code()) {
            case error_code::stalled:
                return invoke_end::stalled;
            case error_code::timed_out:
                return invoke_end::timed_out;
            case error_code::stopped:
                return invoke_end::stopped;
            default:
                throw;
        }
    }
}

template <class Value>
concept reads_steps_ahead = requires(const Value& trial, step_number step) { trial.read_ahead(step); };

/// Walks a run with some rules: all of it by go(), or step by step with visit() and idle().  A rule that throws, or has
/// invalid settings, ends alone.  Borrows the run and the options.
template <class Run>
class rule_drive {
public:
    using rule_pointer = std::shared_ptr<erased_rule<Run>>;

    rule_drive(const Run& run, std::vector<rule_pointer> rules, const invoke_options& options,
               drive_listener listener = {});

    void go();

    /// Drives a single rule, whose exceptions are passed on.
    [[nodiscard]] rule_outcome go_alone();

    /// Calls the unfinished rules at a step that exists.
    void visit(step_number step);

    /// Polls the rules that measure time, while `next_step` is waited for.
    void idle(step_number next_step);

    /// The interval at which idle() must be called; nothing if no rule is polled.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const;

    [[nodiscard]] bool all_over() const {
        return std::all_of(progress_.begin(), progress_.end(), [](const rule_progress& each) { return each.over; });
    }
    void end_all(invoke_end why, step_number next_step);

    [[nodiscard]] const std::vector<rule_pointer>& rules() const noexcept { return rules_; }
    /// The progress of each rule, in their order.
    [[nodiscard]] const std::vector<rule_progress>& progress() const noexcept { return progress_; }
    /// The outcome of one rule so far; problems of the run count as unreadable tensors.
    [[nodiscard]] rule_outcome outcome_of(std::size_t rule) const;

private:
    /// The first saved step that is not below `from`; nothing if there is none yet.  Saved steps are fetched in bulk:
    /// again only when all known ones have been walked.
    [[nodiscard]] std::optional<step_number> next_saved(step_number from);
    /// Makes the trial, if it can, prefetch the next four known steps after the one that next_saved() returned.
    void read_ahead();

    [[nodiscard]] named_step named(step_number step) const;

    void evaluate(std::size_t rule, step_number step);

    /// Counts the look-ups of a call, unless it was interrupted: then data only seems to be missing.
    void count_reads(rule_progress& each, const std::vector<finding>& findings,
                     const std::exception_ptr& skipped) const;

    // Called outside the rule: an exception of a listener is not the rule's failure.
    void skip(std::size_t rule, step_number step, const std::exception_ptr& why);

    /// Ends a rule that has not ended, after its notes about the walk if that was not ended early.
    void end(std::size_t rule, invoke_end why, step_number next_step);

    /// Adds a step's findings to the rule's outcome and passes them to the listener.
    void take(std::size_t rule, std::vector<finding> findings, step_number step);

    /// Waits for a step.  Returns why no rule can be called; nothing when the step exists.  `passed_over` reports that
    /// the step will never exist, but later ones do.
    [[nodiscard]] std::optional<invoke_end> wait_for(step_number step, bool& passed_over);

    const Run& run_;
    read_log* log_ = nullptr;  // of the current rule; null if look-ups cannot be logged
    std::vector<rule_pointer> rules_;
    std::vector<rule_progress> progress_;
    const invoke_options& options_;
    drive_listener listener_;
    named_step now_;
    std::vector<step_number> steps_;
    std::size_t place_ = 0;      // index in steps_ of the last result of next_saved()
    step_number asked_for_ = 0;  // steps before this one were prefetched
    bool has_all_ = false;       // steps_ are all there will be, and complete: nothing is waited for
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/drive/impl/rule_drive.ipp>
#endif

#include <smdebug/rules/drive/impl/rule_drive.tpp>

#ifdef SMDEBUG_COMPILED
namespace smdebug::inline v1 {

extern template class detail::rule_drive<trial>;

}  // namespace smdebug::inline v1
#endif
