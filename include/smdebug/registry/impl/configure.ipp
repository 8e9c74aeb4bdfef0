// The bodies of <smdebug/registry/configure.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/setting.hpp>

#include <map>
#include <utility>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE void check_regexes(const text_list& list) {  // of a std::vector<std::string>, too
    for (const std::string& text : list.texts()) {
        try {
            static_cast<void>(regex{text});
        } catch (const value_error& bad) {
            throw value_error("holds a bad regular expression: " + std::string{bad.message()});
        }
    }
}

SMDEBUG_INLINE value_error wrong_parameter(const rule_info& rule, std::string_view name, const value_error& why) {
    std::string text = "rule " + rule.name + ": parameter " + std::string{name};
    for (const parameter_info& each : rule.parameters) {
        if (each.name == name) {
            text += " (" + each.type + ", default " + each.standard + ") ";
        }
    }
    return value_error(text + std::string{why.message()});
}

SMDEBUG_INLINE value_error unknown_parameter(const rule_info& rule, std::string_view name) {
    std::vector<std::string> names;
    std::string all;
    for (const parameter_info& each : rule.parameters) {
        names.push_back(each.name);
        all.append(all.empty() ? "" : ", ").append(each.name);
    }
    return value_error("rule " + rule.name + " has no parameter \"" + std::string{name} + "\"." +
                       did_you_mean(name, names, 3) + " It has: " + (all.empty() ? "none" : all));
}

/// "other_trial_3" -> 3.
[[nodiscard]] inline std::optional<std::int64_t> number_of_other_trial(std::string_view key) noexcept {
    constexpr std::string_view prefix = "other_trial_";
    return key.starts_with(prefix) ? number_in<std::int64_t>(key.substr(prefix.size())) : std::nullopt;
}

template <class Value>
[[nodiscard]] Value value_of_parameter(const std::string& key, const parameter_value& value) {
    Value parsed{};
    try {
        parse_parameter(value, parsed);
    } catch (const value_error& wrong) {
        throw value_error("parameter " + key + " " + std::string{wrong.message()});
    }
    return parsed;
}

[[nodiscard]] inline std::optional<step_number> step_of_parameter(const std::string& key,
                                                                  const parameter_value& value) {
    const auto step = value_of_parameter<std::optional<step_number>>(key, value);
    if (step && *step < 0) {
        throw value_error("parameter " + key + " must not be negative, but is " + std::to_string(*step));
    }
    return step;
}

}  // namespace detail

SMDEBUG_INLINE void settle_request(rule_request& request) {
    std::multimap<std::int64_t, std::string> numbered;
    rule_parameters own;
    for (auto& [key, value] : request.parameters) {
        if (key == "rule_to_invoke") {
            request.rule = detail::value_of_parameter<std::string>(key, value);
        } else if (key == "other_trials") {
            const auto paths = value.items ? *value.items : detail::items_in(value.text);
            request.other_trials.insert(request.other_trials.end(), paths.begin(), paths.end());
        } else if (const auto number = detail::number_of_other_trial(key)) {
            numbered.emplace(*number, detail::value_of_parameter<std::string>(key, value));
        } else if (key == "start_step") {
            request.start_step = detail::step_of_parameter(key, value);
        } else if (key == "end_step") {
            request.end_step = detail::step_of_parameter(key, value);
        } else if (key == "action_json") {
            request.action_json = detail::value_of_parameter<std::string>(key, value);
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

}  // namespace smdebug::inline v1
