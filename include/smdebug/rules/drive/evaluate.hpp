// Calling a rule at one step: with refreshing off, after making sure of what it requires.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/step_walk.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/required_tensors.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/refresh_guard.hpp>

#include <list>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

// Findings that say something: met, or a note.
[[nodiscard]] std::vector<finding> telling(std::vector<finding> all);
[[nodiscard]] inline std::vector<finding> telling(finding one) { return telling(std::vector<finding>{std::move(one)}); }

/// Whether an error says that something the rule needs was not saved.
[[nodiscard]] bool means_skip(const not_found& missing) noexcept;

/// Settings that make no sense are an error before anything is read.
template <class Rule>
void check_settings(const Rule& callable) {
    if constexpr (checked_rule<Rule>) {
        callable.check();
    }
}

/// Findings say at which step, in whose words.
template <class Trial>
void name_step(std::vector<finding>& found, const Trial& run, step_number step) {
    for (finding& one : found) {
        if (one.step < 0) {
            one.step = step;
        }
        if (one.mode_step < 0) {
            const std::optional<mode> in = run.mode(one.step);
            one.mode = in.value_or(mode::global);
            one.mode_step = in ? run.mode_step(one.step).value_or(one.step) : one.step;
        }
    }
}

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
        std::vector<finding> found = telling(callable(run, step));
        name_step(found, run, step);
        for (finding& one : found) {
            one.rule = one.rule.empty() ? name_of_rule(callable) : std::move(one.rule);
        }
        return found;
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
    } else if constexpr (compares_many_trials<Rule>) {
        std::list<no_refresh> guards;
        for (const auto& other : callable.other_runs()) {
            if constexpr (refreshable_trial<std::remove_cvref_t<decltype(other.get())>>) {
                guards.emplace_back(other.get());
            }
        }
        return call_quietly();
    } else {
        return call_quietly();
    }
}

/// Calls a rule at one global step: waits for the step, then, with refreshing off, makes sure of the tensors that the
/// rule requires, and calls it.  Returns the findings that are met, and notes; nothing when there are neither.
/// Errors: value_error, insufficient_information_for_rule_invocation (settings), what wait_for_steps throws
///         (step_unavailable, no_more_data, timed_out, stopped), tensor_unavailable, tensor_unavailable_for_step, and
///         whatever the rule throws.
template <class Rule, class Trial>
requires rule<Rule, Trial>
[[nodiscard]] std::vector<finding> evaluate_rule(Rule& callable, const Trial& run, step_number step,
                                                 const wait_options& how = {}) {
    detail::check_settings(callable);
    if constexpr (detail::waits_for_steps<Trial>) {
        run.wait_for_steps({step}, how);
    }
    return detail::call_rule(callable, run, step, how);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/drive/impl/evaluate.ipp>
#endif
