// Calling a rule over the steps of a trial, from a step on until the run ends.
// Source: the Python package's Rule.invoke and invoke_rule; decisions.md D29, D30.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/evaluate.hpp>
#include <smdebug/rules/drive/observed_trial.hpp>
#include <smdebug/rules/drive/read_log.hpp>
#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/for_each_tensor.hpp>
#include <smdebug/trial/options.hpp>

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Whether a rule means the same for a trial that logs what it is asked for.
template <class Rule, class Trial>
concept rule_of_observed_trial =
    scannable_trial<Trial> && rule<Rule, observed_trial<Trial>> && requires_tensors<Rule, Trial>
== requires_tensors<Rule, observed_trial<Trial>>;

/// Calls use(trial, log): a trial to call the rule with, and its log; null where it has none.
template <class Rule, class Trial, class Use>
void with_log(const Trial& run, Use&& use) {
    if constexpr (rule_of_observed_trial<Rule, Trial>) {
        const auto log = std::make_shared<read_log>();
        const observed_trial<Trial> observed{log, run};
        use(observed, log);
    } else {
        use(run, nullptr);
    }
}

}  // namespace detail

/// Calls a rule at every saved global step from start_step up to, not including, end_step, waiting for new ones while
/// the job runs.  Steps that lack something the rule needs are skipped.
/// Errors:  value_error, insufficient_information_for_rule_invocation (settings); rule_evaluation_condition_met if
/// asked
///          for; whatever the rule throws that does not mean "not there".
/// Cost:    grows with the saved steps, not with their numbers; a running job is listed when the known steps are done.
///          A trial in a storage far away is told of the next steps before each call (read_ahead).
/// Threads: rules may run over one trial on several threads; while any of them is in a call, none refreshes the trial.
template <class Rule, class Trial>
requires rule<std::remove_reference_t<Rule>, Trial> rule_outcome invoke_rule(Rule&& callable, const Trial& run,
                                                                             const invoke_options& options = {}) {
    detail::check_settings(callable);
    detail::driven_rule driven{.name = name_of_rule(callable), .call = {}};
    driven.listener = {options.on_finding, options.on_note, options.on_skip};
    detail::with_log<std::remove_reference_t<Rule>>(run, [&](const auto& seen, std::shared_ptr<detail::read_log> log) {
        driven.log = std::move(log);
        driven.call = [&](step_number step, const wait_options& how) {
            return detail::call_rule(callable, seen, step, how);
        };
        detail::let_poll(driven, callable, seen);
        detail::rule_drive{run, std::span{&driven, 1}, options, false, [](step_number) {}}.go();
    });
    return std::move(driven.outcome);
}

}  // namespace v1
}  // namespace smdebug
