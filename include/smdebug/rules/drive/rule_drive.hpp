// Rules over the steps of a run: the one loop behind invoke_rule and invoke_rules.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/read_log.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/trial/options.hpp>

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

void end_rule(driven_rule& each, invoke_end why, step_number next_step);

/// Sorts a step's findings into the outcome and tells the listener.  Returns whether any was met.
bool hand_over(driven_rule& each, std::vector<finding> found, step_number step, bool first_only);

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

    void go();

    /// Calls the rules that are not over at a step that is there.
    void visit(step_number step);

    /// Asks the rules that want to be asked while `next_step` is waited for.
    void idle(step_number next_step);

    /// How often that is to be; nothing where none wants to be asked.
    [[nodiscard]] std::optional<std::chrono::milliseconds> poll_interval() const;

    [[nodiscard]] bool all_over() const {
        return std::all_of(rules_.begin(), rules_.end(), [](const driven_rule& each) { return each.over; });
    }
    void end_all(invoke_end why, step_number next_step);

private:
    [[nodiscard]] named_step named(step_number step) const;

    void evaluate(driven_rule& each, step_number step);

    /// What is behind a call is counted, unless it was broken off: then things look as if they were missing.
    void count_reads(driven_rule& each, const std::vector<finding>& found, const std::exception_ptr& skipped) const;

    // Not where the rule is called: what a listener throws is not the rule's failure.
    static void skip(driven_rule& each, step_number step, const std::exception_ptr& why);

    void take(driven_rule& each, std::vector<finding> found, step_number step);

    // Waiting ------------------------------------------------------------------------------------------------------

    /// Waits for a step.  Returns why there is nothing to call rules at; nothing when the step is there.  `passed_over`
    /// says that it will never be there, but later ones are.
    [[nodiscard]] std::optional<invoke_end> wait_for(step_number step, bool& passed_over);

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

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/drive/impl/rule_drive.ipp>
#endif

#include <smdebug/rules/drive/impl/rule_drive.tpp>
