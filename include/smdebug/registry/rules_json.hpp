// Rules from JSON: the DebugRuleConfigurations of a CreateTrainingJob request, or a shorter form of our own.
// Source: the public API reference of SageMaker, DebugRuleConfiguration.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/concepts.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A string, number or boolean as the text of a parameter; nothing for anything else.
[[nodiscard]] std::optional<std::string> scalar_text(const json::value& value);

[[nodiscard]] parameter_value parameter_from(std::string_view key, const json::value& value);

inline constexpr std::string_view rules_json_forms =
    R"({"RuleConfigurationName": NAME, "RuleParameters": {"rule_to_invoke": RULE, KEY: VALUE, ...}} )"
    R"(or {"rule": RULE, "parameters": {KEY: VALUE, ...}})";

[[nodiscard]] rule_request request_from(const json::value& item);

}  // namespace detail

/// The rules in a JSON text: a list, or an object (a whole CreateTrainingJob request) whose field
/// "DebugRuleConfigurations" is one.  Parameters are strings as the service wants them, or numbers, booleans, lists.
/// Whether there are such rules and parameters, rule_registry::make says.
/// Errors: value_error, which says in which item, also where a key is not known, or a key or a
/// parameter is given twice; `source` is for messages.
[[nodiscard]] std::vector<rule_request> parse_rules_json(std::string_view text, const std::string& source);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/registry/impl/rules_json.ipp>
#endif
