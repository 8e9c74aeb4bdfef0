// The concept of a rule, and the tensors that a rule needs at a step; start reading rules/ here.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// A list of (tensor, steps), of the rule's trial and of others, that must exist before a rule is called.
/// Source: the Python package's RequiredTensors.
template <class Trial>
class required_tensors {
public:
    explicit required_tensors(const Trial& base) : base_(base) {}

    /// Requires a tensor of the rule's own trial at some steps.  Errors: tensor_unavailable, at once.
    void add(std::string_view name, std::vector<step_number> steps);

    /// Requires every tensor whose name matches at `step`; no match is not an error.
    void add_matching(const text_list& regex, step_number step);

    /// Requires a tensor of another trial.  The trial must outlive the call of the rule.
    template <class Other>
    void add(std::string_view name, std::vector<step_number> steps, const Other& other) {
        if (!other.has_tensor(name)) {
            static_cast<void>(other.tensor(name));  // throws, and suggests the closest names
        }
        others_.push_back([&other, name = std::string{name}, steps = std::move(steps)](const wait_options& how) {
            fetch_one(other, name, steps, how);
        });
    }

    /// The names required of the rule's own trial, sorted.
    [[nodiscard]] std::vector<std::string> names() const;

    /// Waits for the steps, then checks that each tensor can be read at each step.
    /// Errors: what wait_for_steps throws, tensor_unavailable_for_step, corrupt_record.
    void fetch(const wait_options& how = {}) const;

private:
    void merge(std::string_view name, std::vector<step_number> steps);

    template <class From>
    static void fetch_one(const From& from, const std::string& name, const std::vector<step_number>& steps,
                          const wait_options& how) {
        if constexpr (requires { from.wait_for_steps(steps, how); }) {
            from.wait_for_steps(steps, how);
        }
        const auto tensor = from.tensor(name);
        for (const step_number step : steps) {
            if constexpr (requires { tensor.value(step); }) {
                static_cast<void>(tensor.value(step));
            } else {  // a trial that only reduces: only the step can be checked
                const std::vector<step_number> saved = tensor.steps(steps_options{});
                if (!std::binary_search(saved.begin(), saved.end(), step)) {
                    throw tensor_unavailable_for_step(name, step, mode::global);
                }
            }
        }
    }

    const Trial& base_;
    std::vector<std::pair<std::string, std::vector<step_number>>> wanted_;
    std::vector<std::function<void(const wait_options&)>> others_;
};

/// The possible verdicts of a rule: whether its condition is met, as in Python; one finding; or a finding for each
/// tensor.
template <class Rule>
concept rule_answer =
    std::same_as<Rule, bool> || std::same_as<Rule, finding> || std::same_as<Rule, std::vector<finding>>;

/// rule(trial, step) gives a verdict.
template <class Rule, class Trial>
concept step_callable = std::invocable<Rule&, const Trial&, step_number> &&
                        rule_answer<std::invoke_result_t<Rule&, const Trial&, step_number>>;

/// Optional: rule.name(), for reports.
template <class Rule>
concept named_rule = requires(const Rule& rule) {
    { rule.name() } -> std::convertible_to<std::string_view>;
};

/// Optional: rule.require(trial, step, required) names the tensors that the rule needs at a step: a step that lacks one
///           is skipped.
template <class Rule, class Trial>
concept requires_tensors =
    requires(Rule& rule, const Trial& trial, step_number step, required_tensors<Trial>& required) {
        { rule.require(trial, step, required) } -> std::same_as<void>;
    };

/// Optional: rule.other_trials() returns a tuple of references (std::tie) to the trials that it compares with: their
///           refreshing is off during a call, too.
template <class Rule>
concept compares_trials = requires(const Rule& rule) { std::tuple_size<decltype(rule.other_trials())>::value; };

/// Optional, the same for a list: rule.other_runs() returns references (std::reference_wrapper) to trials.
template <class Rule>
concept compares_many_trials = requires(const Rule& rule) { rule.other_runs().begin()->get(); };

/// Optional: a rule that measures time is polled while the next step is waited for.  start() is called before the first
///           step, while_waiting(trial) about every poll_interval() while no step comes.  A finding's `step` is then
///           the last step that the rule was called with, or -1.
template <class Rule, class Trial>
concept polled_rule = requires(Rule& rule, const Trial& trial) {
    rule.start();
    { rule.while_waiting(trial) } -> std::same_as<std::optional<finding>>;
    { rule.poll_interval() } -> std::same_as<std::chrono::milliseconds>;
};

/// Optional: rule.conclude(trial) returns notes about what it has not looked at.  It is called once, after the last step,
///           unless the walk was ended early; their step is the last one.
template <class Rule, class Trial>
concept concluding_rule = requires(const Rule& rule, const Trial& trial) {
    { rule.conclude(trial) } -> std::same_as<std::vector<finding>>;
};

/// Optional: rule.bands() returns the ranges that the rule has compared numbers with, for pictures.  It is called at the
///           end of a walk, however that ended, and only where invoke_options::keep_bands asks for it, as reports do.
template <class Rule>
concept banded_rule = requires(const Rule& rule) {
    { rule.bands() } -> std::same_as<std::vector<rule_outcome::band>>;
};

/// Judges a run, step by step.  A type Rule models `rule` for a trial type when:
///  1. it can be called with (const Trial&, step_number) and returns a bool, a finding or a vector of findings;
///  2. the step is a global one, complete when the rule is called, and refreshing is off during the call;
///  3. it may keep state between steps: it is called in ascending order, by one thread at a time;
///  4. tensor_unavailable, tensor_unavailable_for_step, step_unavailable and no_more_data, when thrown by it, skip the
///     step; any other exception ends the walk of the rule.
/// A rule that compares runs holds the other trials as members, by pointer or by value.  rule_registry::make() and
/// --other-trials put them into a member `others`, of the type that takes_other_runs requires, and other_runs() returns
/// references to them.
template <class Rule, class Trial>
concept rule = readable_trial<Trial> && step_callable<Rule, Trial>;

/// The rule's name, or "rule" if it has none (a lambda).
template <class Rule>
[[nodiscard]] std::string name_of_rule(const Rule& rule) {
    if constexpr (named_rule<Rule>) {
        return std::string{rule.name()};
    } else {
        static_cast<void>(rule);
        return "rule";
    }
}

template <class Trial>
void required_tensors<Trial>::add(std::string_view name, std::vector<step_number> steps) {
    if (!base_.has_tensor(name)) {
        static_cast<void>(base_.tensor(name));  // throws, and suggests the closest names
    }
    merge(name, std::move(steps));
}

template <class Trial>
void required_tensors<Trial>::add_matching(const text_list& regex, step_number step) {
    for (const std::string& name : base_.tensor_names({.regex = regex, .step = step})) {
        merge(name, {step});
    }
}

template <class Trial>
std::vector<std::string> required_tensors<Trial>::names() const {
    std::vector<std::string> all;
    for (const auto& each : wanted_) {
        all.push_back(each.first);
    }
    std::sort(all.begin(), all.end());
    return all;
}

template <class Trial>
void required_tensors<Trial>::fetch(const wait_options& how) const {
    for (const auto& [name, steps] : wanted_) {
        fetch_one(base_, name, steps, how);
    }
    for (const auto& fetch_other : others_) {
        fetch_other(how);
    }
}

template <class Trial>
void required_tensors<Trial>::merge(std::string_view name, std::vector<step_number> steps) {
    const auto entry =
        std::find_if(wanted_.begin(), wanted_.end(), [&](const auto& each) { return each.first == name; });
    if (entry == wanted_.end()) {
        wanted_.emplace_back(name, std::move(steps));
    } else {
        entry->second.insert(entry->second.end(), steps.begin(), steps.end());
    }
}

}  // namespace smdebug::inline v1
