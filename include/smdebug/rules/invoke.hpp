// Calling a rule over the steps of a trial, from a step on until the run ends.
// Source: the Python package's Rule.invoke and invoke_rule; decisions.md D29, D30.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/drive/erased_rule.hpp>
#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/shared/rule_view.hpp>

#include <memory>
#include <type_traits>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class Rule, class Trial>
[[nodiscard]] rule_outcome drive_alone(Rule& callable, const Trial& run, const invoke_options& options) {
    return rule_drive<driven<Trial>>{
        run, {std::make_shared<held_rule<Rule&, Trial>>(callable)}, options, listener_of(options)}
        .go_alone();
}

}  // namespace detail

/// Calls a rule at every saved global step from start_step up to, not including, end_step, waiting for new ones while
/// the job runs.  Steps that lack something the rule needs are skipped.
/// Errors:  value_error, insufficient_information_for_rule_invocation (settings); rule_evaluation_condition_met on
///          request; what the rule throws that does not mean "not there".
/// Cost:    grows with the saved steps, not with their numbers; a running job is listed when the known steps are done.
///          A trial in a remote storage reads the next steps ahead, from before each call on.
/// Threads: rules may run over one trial on several threads; while any of them is in a call, none refreshes the trial.
template <class Rule, class Trial>
    requires rule<std::remove_reference_t<Rule>, Trial>
rule_outcome invoke_rule(Rule&& callable, const Trial& run, const invoke_options& options = {}) {
    if constexpr (shareable_trial<Trial>) {
        Trial logged{run};
        logged.share_with_rules(detail::view_for_rules(run.state(), nullptr));
        return detail::drive_alone(callable, logged, options);
    } else {
        return detail::drive_alone(callable, run, options);
    }
}

}  // namespace v1
}  // namespace smdebug
