// Configures rules by text parameters, according to their settings().
// Source: SageMaker Debugger's rule parameters, a map from string to string.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// A parameter as it was written: a text, or the items of a list if its source has lists.
struct parameter_value {
    std::string text = {};
    std::optional<std::vector<std::string>> items = {};

    parameter_value() = default;
    parameter_value(const char* value) : text(value) {}                         // NOLINT: implicit
    parameter_value(std::string value) : text(std::move(value)) {}              // NOLINT: implicit
    parameter_value(std::vector<std::string> list) : items(std::move(list)) {}  // NOLINT: implicit
};

/// Parameters by name.
using rule_parameters = std::map<std::string, parameter_value>;

/// The description of a setting.
struct parameter_info {
    std::string name;
    std::string type;      ///< "bool", "float", "list", ...
    std::string standard;  ///< the default
    std::string meaning;
};

/// The description of a rule.
struct rule_info {
    std::string name = {};          ///< "exploding_tensor"
    std::string service_name = {};  ///< "ExplodingTensor"; empty for a rule that the service lacks
    std::string meaning = {};
    std::vector<parameter_info> parameters = {};
};

/// Describes a rule: names, types and defaults, as in a default-constructed one.
template <described_rule Rule>
[[nodiscard]] rule_info describe() {
    const Rule standard{};
    rule_info info{.name = std::string{standard.name()}, .meaning = std::string{Rule::summary()}};
    if constexpr (requires {
                      { Rule::service_name() } -> std::convertible_to<std::string_view>;
                  }) {
        info.service_name = Rule::service_name();
    }
    for_each_setting<Rule>([&]<class Value>(const setting<Rule, Value>& each) {
        info.parameters.push_back({std::string{each.name}, std::string{type_name_of<Value>()},
                                   text_of(standard.*each.member), std::string{each.meaning}});
    });
    return info;
}

namespace detail {

/// Errors: as parse_setting().
template <setting_value Value>
void parse_parameter(const parameter_value& value, Value& to) {
    value.items ? parse_setting(*value.items, to) : parse_setting(std::string_view{value.text}, to);
}

void check_regexes(const text_list& list);

/// The errors for an invalid value of a parameter, and for an unknown parameter.
[[nodiscard]] value_error wrong_parameter(const rule_info& rule, std::string_view name, const value_error& why);
[[nodiscard]] value_error unknown_parameter(const rule_info& rule, std::string_view name);

}  // namespace detail

/// Sets one setting of a rule.  Returns whether it has one of that name.
/// Errors: value_error that names the parameter, its type and its default.
template <described_rule Rule>
bool set_parameter(Rule& rule, std::string_view name, const parameter_value& value) {
    bool exists = false;
    try {
        for_each_setting<Rule>([&]<class Value>(const setting<Rule, Value>& each) {
            if (each.name != name) {
                return;
            }
            exists = true;
            Value parsed{};
            detail::parse_parameter(value, parsed);
            if constexpr (detail::text_list_setting<Value>) {
                if (each.kind == setting_kind::regexes) {
                    detail::check_regexes(parsed);
                }
            }
            rule.*each.member = std::move(parsed);
        });
    } catch (const value_error& wrong) {
        throw detail::wrong_parameter(describe<Rule>(), name, wrong);
    }
    return exists;
}

/// Sets the given settings of a rule; others stay unchanged.
/// Errors: value_error: an unknown parameter (the message names the nearest, and all that exist), an invalid value.
template <described_rule Rule>
void configure(Rule& rule, const rule_parameters& parameters) {
    for (const auto& [name, value] : parameters) {
        if (!set_parameter(rule, name, value)) {
            throw detail::unknown_parameter(describe<Rule>(), name);
        }
    }
}

/// A rule that a user asks for, by name: what rule_registry::make() and a walk need.
struct rule_request {
    std::string label = {};  ///< its name in reports: RuleConfigurationName, else the rule's name
    std::string rule = {};   ///< the rule's name, as given
    rule_parameters parameters = {};
    std::vector<std::string> other_trials = {};  ///< paths of runs to compare with
    std::optional<step_number> start_step = {};
    std::optional<step_number> end_step = {};  ///< exclusive
    std::string action_json = {};              ///< see actions/status_file.hpp
    bool is_from_json = false;  ///< like the service's rules it judges the first worker, unless it says otherwise
};

/// Removes from a request's parameters those that are not the rule's own, and stores them: rule_to_invoke, other_trials
/// (a list), other_trial_0, other_trial_1, ... (in the order of their numbers), start_step, end_step, action_json,
/// base_trial (which the service fills in, and is ignored).
/// Errors: value_error: an invalid step, rules in Python (source_s3_uri).
void settle_request(rule_request& request);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/registry/impl/configure.ipp>
#endif
