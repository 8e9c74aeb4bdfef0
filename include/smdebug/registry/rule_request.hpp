// A rule as somebody asks for it, before there is a run: a name, parameters, and what stands beside them.
// Used by: registry/rules_json.hpp, cli.
// Source: SageMaker's DebugRuleConfigurations; its rule parameters that are none of the rule's own.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/setting_text.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
};

namespace detail {

/// "other_trial_3" -> 3.
[[nodiscard]] inline std::optional<std::int64_t> number_of_other_trial(std::string_view key) noexcept {
    constexpr std::string_view prefix = "other_trial_";
    return key.starts_with(prefix) ? number_in<std::int64_t>(key.substr(prefix.size())) : std::nullopt;
}

[[nodiscard]] inline std::optional<step_number> step_of_parameter(const std::string& key,
                                                                  const parameter_value& given) {
    std::optional<step_number> step;
    try {
        parse_setting(std::string_view{given.text}, step);
    } catch (const value_error& wrong) {
        throw value_error("parameter " + key + " " + std::string{wrong.message()});
    }
    if (step && *step < 0) {
        throw value_error("parameter " + key + " must not be negative, but is " + std::to_string(*step));
    }
    return step;
}

}  // namespace detail

/// Takes out of a request's parameters what is none of the rule's own: rule_to_invoke, other_trials (a list),
/// other_trial_0, other_trial_1, ... (in the order of their numbers), start_step, end_step, action_json, base_trial
/// (which the service fills in, and nobody needs).
/// Errors: value_error: a step that is none, rules in Python (source_s3_uri).
inline void settle_request(rule_request& request) {
    std::map<std::int64_t, std::string> numbered;
    rule_parameters own;
    for (auto& [key, given] : request.parameters) {
        if (key == "rule_to_invoke") {
            request.rule = given.text;
        } else if (key == "other_trials") {
            const auto paths = given.items ? *given.items : detail::items_in(given.text);
            request.other_trials.insert(request.other_trials.end(), paths.begin(), paths.end());
        } else if (const auto number = detail::number_of_other_trial(key)) {
            numbered.emplace(*number, given.text);
        } else if (key == "start_step") {
            request.start_step = detail::step_of_parameter(key, given);
        } else if (key == "end_step") {
            request.end_step = detail::step_of_parameter(key, given);
        } else if (key == "action_json") {
            request.action_json = given.text;
        } else if (key == "source_s3_uri") {
            throw value_error(
                "the rule is a Python file (source_s3_uri): such rules run in SageMaker only; write it "
                "in C++ (examples/custom_rule.cpp)");
        } else if (key != "base_trial") {
            own.emplace(key, std::move(given));
        }
    }
    for (auto& each : numbered) {
        request.other_trials.push_back(std::move(each.second));
    }
    request.parameters = std::move(own);
    if (request.start_step && request.end_step && *request.end_step <= *request.start_step) {
        throw value_error("end_step must be above start_step, as it is not included");
    }
    if (request.label.empty()) {
        request.label = request.rule;
    }
}

}  // namespace v1
}  // namespace smdebug
