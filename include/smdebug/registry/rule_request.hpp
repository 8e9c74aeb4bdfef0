// A request for a rule, before there is a run: a name, parameters, steps, runs to compare with.
// Source: SageMaker's DebugRuleConfigurations; its rule parameters that are none of the rule's own.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/concepts.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

struct rule_request {
    std::string label = {};  ///< what reports call it: RuleConfigurationName, else the rule's name
    std::string rule = {};   ///< the rule's name, as given
    rule_parameters parameters = {};
    std::vector<std::string> other_trials = {};  ///< paths of runs to compare with
    std::optional<step_number> start_step = {};
    std::optional<step_number> end_step = {};  ///< exclusive
    std::string action_json = {};              ///< see actions/action_record.hpp
    bool is_from_json = false;  ///< as the service's rules it looks at the first worker, unless it says otherwise
};

namespace detail {

/// "other_trial_3" -> 3.
[[nodiscard]] std::optional<std::int64_t> number_of_other_trial(std::string_view key) noexcept;

[[nodiscard]] std::optional<step_number> step_of_parameter(const std::string& key, const parameter_value& value);

}  // namespace detail

/// Takes out of a request's parameters what is none of the rule's own: rule_to_invoke, other_trials (a list),
/// other_trial_0, other_trial_1, ... (in the order of their numbers), start_step, end_step, action_json, base_trial
/// (which the service fills in, and is ignored).
/// Errors: value_error: a step that is none, rules in Python (source_s3_uri).
void settle_request(rule_request& request);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/registry/impl/rule_request.ipp>
#endif
