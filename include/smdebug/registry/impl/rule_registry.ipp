// The bodies of <smdebug/registry/rule_registry.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/setting.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE std::optional<std::string> scalar_text(const json::value& value) {
    if (const auto text = value.string()) {
        return std::string{*text};
    }
    if (const auto truth = value.boolean()) {
        return text_of(*truth);
    }
    const auto number = value.number();
    if (!number) {
        return std::nullopt;
    }
    constexpr double exact = 9007199254740992.0;  // 2^53
    const bool whole = *number == std::trunc(*number) && std::fabs(*number) < exact;
    return whole ? std::to_string(static_cast<std::int64_t>(*number)) : text_of(*number);
}

SMDEBUG_INLINE parameter_value parameter_from(std::string_view key, const json::value& value) {
    if (value.is_array()) {
        std::vector<std::string> items;
        const bool scalars = value.for_each_element([&](const json::value& item) {
            const auto text = scalar_text(item);
            items.emplace_back(text.value_or(""));
            return text.has_value();
        });
        if (!scalars) {
            throw value_error("parameter " + std::string{key} +
                              " is a list with an item that is neither a string nor "
                              "a number");
        }
        return items;
    }
    if (const auto text = scalar_text(value)) {
        return *text;
    }
    throw value_error("parameter " + std::string{key} + " must be a string, a number, true, false or a list of those");
}

SMDEBUG_INLINE rule_request request_from(const json::value& item) {
    // The service needs the last five to start a machine.
    const std::array<std::string, 9> rule_keys{"rule",           "parameters",         "RuleConfigurationName",
                                               "RuleParameters", "RuleEvaluatorImage", "InstanceType",
                                               "VolumeSizeInGB", "LocalPath",          "S3OutputPath"};
    rule_request request{.is_from_json = true};
    bool service_form = false;
    const auto take_parameters = [&](const json::value& object) {
        return object.for_each_field([&](std::string_view key, const json::value& value) {
            if (!request.parameters.try_emplace(std::string{key}, parameter_from(key, value)).second) {
                throw value_error("the parameter " + std::string{key} + " is given twice");
            }
            return true;
        });
    };
    if (const auto twice = repeated_keys(item)) {
        throw value_error(*twice);
    }
    const bool well_formed = item.for_each_field([&](std::string_view field, const json::value& value) {
        if ((field == "rule" || field == "RuleConfigurationName") && value.is_string()) {
            (field == "rule" ? request.rule : request.label) = *value.string();
            return true;
        }
        if (field == "parameters") {
            return take_parameters(value);
        }
        if (field == "RuleParameters") {
            service_form = true;
            return take_parameters(value);
        }
        if (std::find(rule_keys.begin(), rule_keys.end(), field) == rule_keys.end()) {
            throw value_error("the key \"" + std::string{field} + "\" is not known." +
                              did_you_mean(field, rule_keys, 3) + " A rule is " + std::string{rules_json_forms});
        }
        return field != "rule" && field != "RuleConfigurationName";  // these two are texts
    });
    if (!well_formed) {
        throw value_error("each item must be " + std::string{rules_json_forms});
    }
    settle_request(request);
    if (request.rule.empty()) {
        throw value_error(service_form || !request.label.empty()
                              ? "RuleParameters has no rule_to_invoke, so it is not known which rule is meant"
                              : "each item must be " + std::string{rules_json_forms});
    }
    return request;
}

}  // namespace detail

SMDEBUG_INLINE std::vector<rule_request> parse_rules_json(std::string_view text, const std::string& source) {
    detail::json::document document;
    const auto root = document.parse(as_bytes(text));
    std::vector<rule_request> requests;
    const auto take_all = [&](const detail::json::value& list) {
        list.for_each_element([&](const detail::json::value& item) {
            try {
                requests.push_back(detail::request_from(item));
            } catch (const value_error& wrong) {
                throw value_error(source + ", rule " + std::to_string(requests.size() + 1) + ": " +
                                  std::string{wrong.message()});
            }
            return true;
        });
    };
    if (const auto twice = root ? repeated_keys(*root) : std::nullopt) {
        throw value_error(source + ": " + *twice);
    }
    bool found = false;
    std::string meant;
    if (root && root->is_array()) {
        found = true;
        take_all(*root);
    } else if (root) {
        root->for_each_field([&](std::string_view field, const detail::json::value& value) {
            if (field == "DebugRuleConfigurations" && value.is_array()) {
                found = true;
                take_all(value);
            } else if (meant.empty() && field != "DebugRuleConfigurations") {
                meant = did_you_mean(field, std::array<std::string, 1>{"DebugRuleConfigurations"});
            }
            return true;
        });
    }
    if (!found) {
        throw value_error(source + ": neither a JSON list of rules nor a request with a list DebugRuleConfigurations." +
                          meant + " A rule is " + std::string{detail::rules_json_forms});
    }
    return requests;
}

}  // namespace smdebug::inline v1
