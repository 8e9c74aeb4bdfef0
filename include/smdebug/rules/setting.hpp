// A rule's settings, each described once, next to its member: programs derive flags, help, parsers and reports from
// these descriptions.  Converts settings to texts, as Python prints values, and from the texts of users and services.
// Source: SageMaker Debugger's rule parameters, which are strings; Python's str() of a value.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/trial/options.hpp>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

/// The types that a setting may have: those that a text can express.
template <class Value>
concept setting_value =
    std::same_as<Value, bool> || std::same_as<Value, int> || std::same_as<Value, std::int64_t> ||
    std::same_as<Value, double> || std::same_as<Value, std::string> || std::same_as<Value, std::optional<int>> ||
    std::same_as<Value, std::optional<std::int64_t>> || std::same_as<Value, std::optional<double>> ||
    std::same_as<Value, std::optional<mode>> || std::same_as<Value, text_list> ||
    std::same_as<Value, std::vector<std::string>> || std::same_as<Value, std::vector<double>>;

/// How a list of texts is interpreted.
enum class setting_kind : std::uint8_t {
    plain,
    regexes,  ///< a list of regular expressions, checked when they are parsed
};

/// One setting of the rule Described: its name in texts and flags, the member, and a line that explains it, without the
/// default (a default-constructed rule has that).
template <class Described, setting_value Value>
struct setting {
    using rule_type = Described;
    using value_type = Value;

    std::string_view name;
    Value Described::*member;
    std::string_view meaning;
    setting_kind kind = setting_kind::plain;
};
template <class Described, class Value>
setting(std::string_view, Value Described::*, std::string_view) -> setting<Described, Value>;
template <class Described, class Value>
setting(std::string_view, Value Described::*, std::string_view, setting_kind) -> setting<Described, Value>;

namespace detail {

template <class Value>
inline constexpr bool is_settings_tuple = false;
template <class... Described, class... Value>
inline constexpr bool is_settings_tuple<std::tuple<setting<Described, Value>...>> = true;

}  // namespace detail

/// Described::settings() returns a tuple of setting<Described, ...>, Described::summary() a line that says when the
/// rule fires.
///
///     static constexpr std::string_view name() { return "my_rule"; }
///     static constexpr std::string_view summary() { return "a tensor is larger than it should be"; }
///     static constexpr auto settings() { return std::tuple{setting{"limit", &my_rule::limit, "largest that is fine"}};
///     }
///
/// In the built-in rules, settings() is a template: tuples are slow to compile, and a file that only calls rules
/// instantiates none.
template <class Described>
concept described_rule = named_rule<Described> && std::default_initializable<Described> && requires {
    { Described::summary() } -> std::convertible_to<std::string_view>;
    requires detail::is_settings_tuple<std::remove_cvref_t<decltype(Described::settings())>>;
};

/// Optional: rule.check() throws value_error, or insufficient_information, for invalid settings.
///           It is called before the rule is.
template <class Described>
concept checked_rule = requires(const Described& rule) {
    { rule.check() } -> std::same_as<void>;
};

namespace detail {

/// Throws for invalid settings, before anything is read.
template <class Rule>
void check_settings(const Rule& callable) {
    if constexpr (checked_rule<Rule>) {
        callable.check();
    }
}

}  // namespace detail

/// Calls visit(setting) for each setting of Described, in order.
template <described_rule Described, class Visit>
constexpr void for_each_setting(Visit&& visit) {
    std::apply([&](const auto&... each) { (visit(each), ...); }, Described::settings());
}

namespace detail {

template <class Value>
inline constexpr bool is_optional_setting = false;
template <class Value>
inline constexpr bool is_optional_setting<std::optional<Value>> = true;

template <class Value>
concept whole_number_setting = std::same_as<Value, int> || std::same_as<Value, std::int64_t>;

template <class Value>
concept text_list_setting = std::same_as<Value, text_list> || std::same_as<Value, std::vector<std::string>>;

}  // namespace detail

// Values to texts -------------------------------------------------------------------------------------------------

namespace detail {

/// How a setting's type is called, and what its text must be, for a message "parameter x must be ...".
struct setting_words {
    std::string_view type;
    std::string_view wanted;
};
template <setting_value Value>
[[nodiscard]] constexpr setting_words words_of() noexcept {
    if constexpr (std::same_as<Value, bool>) {
        return {"bool", "True or False"};
    } else if constexpr (whole_number_setting<Value>) {
        return {"int", "a whole number"};
    } else if constexpr (std::same_as<Value, double>) {
        return {"float", "a number"};
    } else if constexpr (std::same_as<Value, std::string>) {
        return {"str", "a string"};
    } else if constexpr (std::same_as<Value, std::optional<int>> || std::same_as<Value, std::optional<std::int64_t>>) {
        return {"int or None", "a whole number or None"};
    } else if constexpr (std::same_as<Value, std::optional<double>>) {
        return {"float or None", "a number or None"};
    } else if constexpr (std::same_as<Value, std::optional<mode>>) {
        return {"mode or None", "TRAIN, EVAL, PREDICT, GLOBAL or None"};
    } else if constexpr (text_list_setting<Value>) {
        return {"list", "a list"};
    } else {
        return {"list of float", "comma-separated numbers"};
    }
}

}  // namespace detail

/// The name of a setting's type in help and reports: "bool", "int", "float", "str", "mode or None", "int or None",
/// "list", "list of float".
template <setting_value Value>
[[nodiscard]] constexpr std::string_view type_name_of() noexcept {
    return detail::words_of<Value>().type;
}

[[nodiscard]] std::string text_of(bool value);
[[nodiscard]] std::string text_of(std::int64_t value);
[[nodiscard]] std::string text_of(int value);
[[nodiscard]] std::string text_of(const std::string& value);
[[nodiscard]] std::string text_of(mode value);

/// The fewest digits that restore the value, formatted as by Python: "0.1", "10.0", "1e-07", "1e+16", "inf", "nan".
[[nodiscard]] std::string text_of(double value);

/// "None" if there is no value.
template <class Value>
[[nodiscard]] std::string text_of(const std::optional<Value>& value) {
    return value ? text_of(*value) : "None";
}

/// Items separated by commas; "None" for an unset list, so that a list with this word as its only item is "None,".  An
/// item that contains a comma cannot be restored.
[[nodiscard]] std::string text_of(const std::vector<std::string>& value);

[[nodiscard]] std::string text_of(const text_list& value);

[[nodiscard]] std::string text_of(const std::vector<double>& value);

// Texts to values -------------------------------------------------------------------------------------------------

namespace detail {

template <setting_value Value>
[[noreturn]] void refuse_setting(std::string_view text) {
    throw value_error("must be " + std::string{words_of<Value>().wanted} + ", not \"" + std::string{text} + "\"");
}

[[nodiscard]] constexpr std::string_view without_blanks(std::string_view text) noexcept {
    return trimmed(text, " \t\r\n");
}

/// The whole text as a number, independent of the locale; nothing for NaN and values beyond the range of Number.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text) noexcept {
    const std::optional<Number> number = number_of_text<Number>(without_plus(without_blanks(text)));
    if constexpr (std::floating_point<Number>) {
        if (number && is_nan(*number)) {
            return std::nullopt;
        }
    }
    return number;
}

/// The items between commas, without surrounding blanks; blank items are dropped.
[[nodiscard]] std::vector<std::string> items_in(std::string_view text);

}  // namespace detail

/// Sets `to` to the value of a text; blanks around a number or an item are ignored.
///   bool:     True, true, False or false, nothing else;
///   numbers:  as in C, independent of the locale: "1e-7", "inf"; NaN and values beyond int64 or double are refused;
///   optional: "" and "None" mean no value; modes are TRAIN, EVAL, PREDICT, GLOBAL;
///   lists:    items between commas; "" is an empty list, and "None" an unset one.
/// Regular expressions are not checked: rules/ does not depend on a regex engine.
/// Errors: value_error, with a sentence that follows the parameter's name: must be a number, not "x".  `to` stays
///         unchanged.
template <setting_value Value>
void parse_setting(std::string_view text, Value& to) {
    if constexpr (std::same_as<Value, bool>) {
        if (text != "True" && text != "true" && text != "False" && text != "false") {
            detail::refuse_setting<Value>(text);
        }
        to = text == "True" || text == "true";
    } else if constexpr (std::same_as<Value, std::string>) {
        to = text;
    } else if constexpr (std::same_as<Value, text_list>) {
        to = detail::without_blanks(text) == "None" ? text_list{} : text_list{detail::items_in(text)};
    } else if constexpr (std::same_as<Value, std::vector<std::string>>) {
        to = detail::without_blanks(text) == "None" ? Value{} : detail::items_in(text);
    } else if constexpr (std::same_as<Value, std::vector<double>>) {
        std::vector<double> numbers;
        if (detail::without_blanks(text) != "None") {
            for (const std::string& item : detail::items_in(text)) {
                const auto number = detail::number_in<double>(item);
                numbers.push_back(number ? *number : (detail::refuse_setting<Value>(text), 0.0));
            }
        }
        to = std::move(numbers);
    } else if constexpr (detail::is_optional_setting<Value>) {
        const std::string_view bare = detail::without_blanks(text);
        Value read;
        if constexpr (std::same_as<Value, std::optional<mode>>) {
            read = mode_named(bare);
        } else {
            read = detail::number_in<typename Value::value_type>(bare);
        }
        if (!read && !bare.empty() && bare != "None") {
            detail::refuse_setting<Value>(text);
        }
        to = read;
    } else {
        const auto number = detail::number_in<Value>(text);
        to = number ? *number : (detail::refuse_setting<Value>(text), Value{});
    }
}

/// Reads a setting that is given as a list, whose items may contain commas.  Other types than lists take one item.
/// Errors: value_error.
template <setting_value Value>
void parse_setting(const std::vector<std::string>& items, Value& to) {
    if constexpr (detail::text_list_setting<Value>) {
        std::vector<std::string> kept;
        for (const std::string& item : items) {
            if (const std::string_view bare = detail::without_blanks(item); !bare.empty()) {
                kept.emplace_back(bare);
            }
        }
        to = std::move(kept);
    } else if constexpr (std::same_as<Value, std::vector<double>>) {
        std::string joined;
        for (const std::string& item : items) {
            joined.append(joined.empty() ? "" : ",").append(item);
        }
        parse_setting(std::string_view{joined}, to);
    } else {
        if (items.size() != 1) {
            throw value_error("must be " + std::string{detail::words_of<Value>().wanted} + ", not a list of " +
                              std::to_string(items.size()));
        }
        parse_setting(std::string_view{items.front()}, to);
    }
}

namespace rules {

/// Descriptions of settings that most rules have.
inline constexpr std::string_view collection_names_meaning =
    "collections to look at; with tensor_regex: the union of both";
inline constexpr std::string_view tensor_regex_meaning = "regular expressions for names of tensors to look at";
inline constexpr std::string_view all_workers_meaning = "look at every worker, not only at the first by name";
/// Descriptions of settings that keep a scan quiet on healthy trainings.
inline constexpr std::string_view patience_meaning = "at how many saves in a row it must be so";
inline constexpr std::string_view above_largest_meaning =
    "... and so many times as far above the median as the largest of these";
inline constexpr std::string_view exclude_regex_meaning = "regular expressions for names of tensors to leave out";

}  // namespace rules
}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/setting.ipp>
#endif
