// The bodies of <smdebug/registry/rule_request.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/setting_text.hpp>

#include <map>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<std::int64_t> number_of_other_trial(std::string_view key) noexcept {
    constexpr std::string_view prefix = "other_trial_";
    return key.starts_with(prefix) ? number_in<std::int64_t>(key.substr(prefix.size())) : std::nullopt;
}

SMDEBUG_INLINE std::optional<step_number> step_of_parameter(const std::string& key, const parameter_value& value) {
    std::optional<step_number> step;
    try {
        parse_setting(std::string_view{value.text}, step);
    } catch (const value_error& wrong) {
        throw value_error("parameter " + key + " " + std::string{wrong.message()});
    }
    if (step && *step < 0) {
        throw value_error("parameter " + key + " must not be negative, but is " + std::to_string(*step));
    }
    return step;
}

}  // namespace detail

SMDEBUG_INLINE void settle_request(rule_request& request) {
    std::map<std::int64_t, std::string> numbered;
    rule_parameters own;
    for (auto& [key, value] : request.parameters) {
        if (key == "rule_to_invoke") {
            request.rule = value.text;
        } else if (key == "other_trials") {
            const auto paths = value.items ? *value.items : detail::items_in(value.text);
            request.other_trials.insert(request.other_trials.end(), paths.begin(), paths.end());
        } else if (const auto number = detail::number_of_other_trial(key)) {
            numbered.emplace(*number, value.text);
        } else if (key == "start_step") {
            request.start_step = detail::step_of_parameter(key, value);
        } else if (key == "end_step") {
            request.end_step = detail::step_of_parameter(key, value);
        } else if (key == "action_json") {
            request.action_json = value.text;
        } else if (key == "source_s3_uri") {
            throw value_error(
                "the rule is a Python file (source_s3_uri): such rules run in SageMaker only; write it "
                "in C++ (examples/custom_rule.cpp)");
        } else if (key != "base_trial") {
            own.emplace(key, std::move(value));
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
