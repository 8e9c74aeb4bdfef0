// The built-in rules by name, and rules made from parameters that are text: `--rule NAME,key=value`, or a JSON file.
// Used by: cli/check.hpp, cli/rule_list.hpp, cli/arguments.hpp.
// Source: how SageMaker Debugger configures its rules: every parameter is a string.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/rules/exploding_tensor.hpp>
#include <smdebug/rules/vanishing_gradient.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// Any built-in rule, ready to be called.
using built_in_rule = std::variant<rules::exploding_tensor, rules::vanishing_gradient>;

/// A parameter as the user gave it.  `items` is what a list is made of; `text` what anything else is.
struct parameter_text {
    std::string key = {};
    std::string text = {};
    std::vector<std::string> items = {};
};

/// What `smdebug rules` says of a parameter.
struct parameter_info {
    std::string_view name;
    std::string_view type;
    std::string_view standard;  ///< the default
    std::string_view meaning;
};

/// What it says of a rule.
struct rule_info {
    std::string_view name;         ///< "exploding_tensor"
    std::string_view python_name;  ///< "ExplodingTensor"
    std::string_view meaning;
    std::span<const parameter_info> parameters;
};

namespace detail {

inline constexpr parameter_info all_workers_info{"all_workers", "bool", "False",
                                                 "look at every worker, not only at the first by name"};

inline constexpr parameter_info exploding_tensor_parameters[] = {
    {"collection_names", "list", "none", "collections to look at; with tensor_regex: both; neither: all tensors"},
    {"tensor_regex", "list", "none", "regular expressions for names of tensors to look at"},
    {"only_nan", "bool", "False", "look for NaN only, not for infinities"},
    all_workers_info,
};

inline constexpr parameter_info vanishing_gradient_parameters[] = {
    {"threshold", "float", "1e-07", "met by a gradient whose mean absolute value is below this"},
    all_workers_info,
};

inline constexpr rule_info built_in_rules[] = {
    {"exploding_tensor", "ExplodingTensor", "a tensor holds NaN or an infinity", exploding_tensor_parameters},
    {"vanishing_gradient", "VanishingGradient", "the mean absolute value of a gradient is below a threshold",
     vanishing_gradient_parameters},
};

/// Upper or lower case, with or without underscores.
[[nodiscard]] inline std::string plain_rule_name(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c != '_') {
            plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
        }
    }
    return plain;
}

[[noreturn]] inline void wrong_value(const parameter_text& given, std::string_view wanted) {
    throw usage_error("parameter " + given.key + " must be " + std::string{wanted} + ", not \"" + given.text + "\"");
}

[[nodiscard]] inline bool boolean_of(const parameter_text& given) {
    const std::string_view text = given.text;
    if (text != "True" && text != "true" && text != "False" && text != "false") {
        wrong_value(given, "True or False");
    }
    return text == "True" || text == "true";
}

[[nodiscard]] inline double number_of(const parameter_text& given) {
    double number = 0;
    const std::string_view text = given.text;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size() || std::isnan(number)) {
        wrong_value(given, "a number");
    }
    return number;
}

[[nodiscard]] inline text_list list_of(const parameter_text& given, bool regexes) {
    std::vector<std::string> items;
    for (std::string_view item : given.items) {
        const std::size_t begin = std::min(item.find_first_not_of(" \t"), item.size());
        item = item.substr(begin, item.find_last_not_of(" \t") + 1 - begin);
        if (item.empty()) {
            continue;
        }
        if (regexes) {
            try {
                static_cast<void>(regex{item});
            } catch (const value_error& bad) {
                throw usage_error("parameter " + given.key + ": " + std::string{bad.message()});
            }
        }
        items.emplace_back(item);
    }
    return items;
}

inline bool set(rules::exploding_tensor& rule, const parameter_text& given) {
    if (given.key == "collection_names") {
        rule.collection_names = list_of(given, false);
    } else if (given.key == "tensor_regex") {
        rule.tensor_regex = list_of(given, true);
    } else if (given.key == "only_nan") {
        rule.only_nan = boolean_of(given);
    } else if (given.key == "all_workers") {
        rule.all_workers = boolean_of(given);
    } else {
        return false;
    }
    return true;
}

inline bool set(rules::vanishing_gradient& rule, const parameter_text& given) {
    if (given.key == "threshold") {
        rule.threshold = number_of(given);
    } else if (given.key == "all_workers") {
        rule.all_workers = boolean_of(given);
    } else {
        return false;
    }
    return true;
}

/// Splits at `separator`; a backslash before one takes its meaning away.
[[nodiscard]] inline std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts(1);
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == separator) {
            parts.back() += text[++i];
        } else if (text[i] == separator) {
            parts.emplace_back();
        } else {
            parts.back() += text[i];
        }
    }
    return parts;
}

}  // namespace detail

/// All of them, in the order in which they are listed.
[[nodiscard]] constexpr std::span<const rule_info> built_in_rules() noexcept { return detail::built_in_rules; }

/// "exploding_tensor, vanishing_gradient".
[[nodiscard]] inline std::string rule_names() {
    std::string names;
    for (const rule_info& held : built_in_rules()) {
        names.append(names.empty() ? "" : ", ").append(held.name);
    }
    return names;
}

/// The rule of that name with these parameters.
/// Errors: usage_error: an unknown rule or parameter (naming those that there are), a value that cannot be.
[[nodiscard]] inline built_in_rule make_rule(std::string_view name, const std::vector<parameter_text>& parameters) {
    const std::string plain = detail::plain_rule_name(name);
    const auto known = built_in_rules();
    const auto info = std::find_if(known.begin(), known.end(),
                                   [&](const rule_info& held) { return detail::plain_rule_name(held.name) == plain; });
    if (info == known.end()) {
        throw usage_error("there is no rule \"" + std::string{name} + "\"; there are: " + rule_names());
    }
    built_in_rule rule;
    if (info->name == rules::vanishing_gradient::name()) {
        rule = rules::vanishing_gradient{};
    }
    for (const parameter_text& given : parameters) {
        try {
            if (std::visit([&](auto& held) { return detail::set(held, given); }, rule)) {
                continue;
            }
        } catch (const usage_error& wrong) {
            throw usage_error("rule " + std::string{info->name} + ": " + wrong.what());
        }
        std::string names;
        for (const parameter_info& held : info->parameters) {
            names.append(names.empty() ? "" : ", ").append(held.name);
        }
        throw usage_error("rule " + std::string{info->name} + " has no parameter \"" + given.key +
                          "\"; it has: " + names);
    }
    return rule;
}

/// "NAME,key=value,key=value".  A comma separates parameters, a semicolon the items of a list; a backslash before
/// either makes it part of the value.  Errors: usage_error.
[[nodiscard]] inline built_in_rule parse_rule(std::string_view text) {
    const std::vector<std::string> parts = detail::split(text, ',');
    std::vector<parameter_text> parameters;
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::size_t equals = parts[i].find('=');
        if (equals == std::string::npos) {
            throw usage_error("--rule " + std::string{text} + ": \"" + parts[i] +
                              "\" is not of the form key=value (a list is written item;item)");
        }
        const std::string value = parts[i].substr(equals + 1);
        parameters.push_back({parts[i].substr(0, equals), value, detail::split(value, ';')});
    }
    return make_rule(parts.front(), parameters);
}

/// The rule's name.
[[nodiscard]] inline std::string_view name_of(const built_in_rule& rule) noexcept {
    return std::visit([](const auto& held) { return held.name(); }, rule);
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
