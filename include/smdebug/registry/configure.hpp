// Rules configured by parameters that are texts, as their settings() declare them.
// Source: SageMaker Debugger's rule parameters, a map from string to string.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/rules/setting_text.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A parameter as it was written: a text, or the items of a list where its source has lists.
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
    std::string service_name = {};  ///< "ExplodingTensor"; empty where the service does not know it
    std::string meaning = {};
    std::vector<parameter_info> parameters = {};
};

/// Describes a rule: names, types and defaults, as a default-constructed one has them.
template <described_rule R>
[[nodiscard]] rule_info describe() {
    const R standard{};
    rule_info info{.name = std::string{standard.name()}, .meaning = std::string{R::summary()}};
    if constexpr (requires {
                      { R::service_name() } -> std::convertible_to<std::string_view>;
                  }) {
        info.service_name = R::service_name();
    }
    for_each_setting<R>([&]<class T>(const setting<R, T>& each) {
        info.parameters.push_back({std::string{each.name}, std::string{type_name_of<T>()},
                                   text_of(standard.*each.member), std::string{each.meaning}});
    });
    return info;
}

namespace detail {

void check_regexes(const text_list& list);

/// The errors for a value that a parameter cannot have, and for an unknown parameter.
[[nodiscard]] value_error wrong_parameter(const rule_info& rule, std::string_view name, const value_error& why);
[[nodiscard]] value_error unknown_parameter(const rule_info& rule, std::string_view name);

}  // namespace detail

/// Sets one setting of a rule.  Returns whether it has one of that name.
/// Errors: value_error that names the parameter, its type and its default.
template <described_rule R>
bool set_parameter(R& rule, std::string_view name, const parameter_value& value) {
    bool exists = false;
    try {
        for_each_setting<R>([&]<class T>(const setting<R, T>& each) {
            if (each.name != name) {
                return;
            }
            exists = true;
            T parsed{};
            value.items ? parse_setting(*value.items, parsed) : parse_setting(std::string_view{value.text}, parsed);
            if constexpr (detail::text_list_setting<T>) {
                if (each.kind == setting_kind::regexes) {
                    detail::check_regexes(parsed);
                }
            }
            rule.*each.member = std::move(parsed);
        });
    } catch (const value_error& wrong) {
        throw detail::wrong_parameter(describe<R>(), name, wrong);
    }
    return exists;
}

/// Sets the settings of a rule; what is not given stays as it is.
/// Errors: value_error: an unknown parameter (naming the nearest, and all that there are), a value that cannot be.
template <described_rule R>
void configure(R& rule, const rule_parameters& parameters) {
    for (const auto& [name, value] : parameters) {
        if (!set_parameter(rule, name, value)) {
            throw detail::unknown_parameter(describe<R>(), name);
        }
    }
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/registry/impl/configure.ipp>
#endif
