// The front door of rules/: what a rule is.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/required_tensors.hpp>
#include <smdebug/trial/concepts.hpp>

#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// The answers that a rule may give: whether its condition is met, as in Python; one finding; or one for each tensor that
/// it looked at and found.
template <class R>
concept rule_answer = std::same_as<R, bool> || std::same_as<R, finding> || std::same_as<R, std::vector<finding>>;

/// rule(trial, step) gives a verdict.
template <class R, class Trial>
concept step_callable =
    std::invocable<R&, const Trial&, step_number> && rule_answer<std::invoke_result_t<R&, const Trial&, step_number>>;

/// Optional: rule.name(), for reports.
template <class R>
concept named_rule = requires(const R& rule) {
    { rule.name() } -> std::convertible_to<std::string_view>;
};

/// Optional: rule.require(trial, step, required) names the tensors that the rule cannot do without at a step: a step
/// that lacks one is skipped.
template <class R, class Trial>
concept requires_tensors = requires(R& rule, const Trial& trial, step_number step, required_tensors<Trial>& required) {
    { rule.require(trial, step, required) } -> std::same_as<void>;
};

/// Optional: rule.other_trials() gives a tuple of references (std::tie) to the trials that it compares with: their
/// refreshing is off during a call, too.
template <class R>
concept compares_trials = requires(const R& rule) { std::tuple_size<decltype(rule.other_trials())>::value; };

/// Optional, the same for a list: rule.other_runs() gives references (std::reference_wrapper) to trials.
template <class R>
concept compares_many_trials = requires(const R& rule) { rule.other_runs().begin()->get(); };

/// Optional: a rule that is polled while the next step is waited for, as it measures time.  start() is
/// called before the first step, while_waiting(trial) about every poll_interval() while no step comes.  A finding's
/// `step` is then the last that the rule saw, or -1.
template <class R, class Trial>
concept polled_rule = requires(R& rule, const Trial& trial) {
    rule.start();
    { rule.while_waiting(trial) } -> std::same_as<std::optional<finding>>;
    { rule.poll_interval() } -> std::same_as<std::chrono::milliseconds>;
};

/// Looks at a run, step after step.  A type R models `rule` for a trial type when:
///  1. it can be called with (const Trial&, step_number) and answers with a bool, a finding or a vector of findings;
///  2. the step is a global one, complete when the rule is called, and refreshing is off during the call;
///  3. it may keep state between steps: it is called in ascending order, by one thread at a time;
///  4. what it throws of tensor_unavailable, tensor_unavailable_for_step and step_unavailable skips the step; anything
///     else ends the run.
/// Other trials are members of the rule, by pointer or by value: a rule that compares runs holds them.  Those that
/// rule_registry::make() and --other-trials give go to a member `others`, of the type that takes_other_runs says, and
/// other_runs() gives references to them.
template <class R, class Trial>
concept rule = readable_trial<Trial> && step_callable<R, Trial>;

/// The rule's name, or "rule" where it has none (a lambda).
template <class R>
[[nodiscard]] std::string name_of_rule(const R& rule) {
    if constexpr (named_rule<R>) {
        return std::string{rule.name()};
    } else {
        static_cast<void>(rule);
        return "rule";
    }
}

}  // namespace v1
}  // namespace smdebug
