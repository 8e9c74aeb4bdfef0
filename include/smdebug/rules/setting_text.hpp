// Settings of rules to texts, as Python prints values, and from the texts that users and services give.
// Source: SageMaker Debugger's rule parameters, which are strings; Python's str() of a value.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

namespace detail {

template <class T>
inline constexpr bool is_optional_setting = false;
template <class T>
inline constexpr bool is_optional_setting<std::optional<T>> = true;

template <class T>
concept whole_number_setting = std::same_as<T, int> || std::same_as<T, std::int64_t>;

template <class T>
concept text_list_setting = std::same_as<T, text_list> || std::same_as<T, std::vector<std::string>>;

}  // namespace detail

// Values to texts -------------------------------------------------------------------------------------------------

/// What a setting's type is called in help and reports: "bool", "int", "float", "str", "mode", "int or None", "list",
/// "list of float".
template <setting_value T>
[[nodiscard]] constexpr std::string_view type_name_of() noexcept {
    if constexpr (std::same_as<T, bool>) {
        return "bool";
    } else if constexpr (detail::whole_number_setting<T>) {
        return "int";
    } else if constexpr (std::same_as<T, double>) {
        return "float";
    } else if constexpr (std::same_as<T, std::string>) {
        return "str";
    } else if constexpr (std::same_as<T, std::optional<int>> || std::same_as<T, std::optional<std::int64_t>>) {
        return "int or None";
    } else if constexpr (std::same_as<T, std::optional<double>>) {
        return "float or None";
    } else if constexpr (std::same_as<T, std::optional<mode>>) {
        return "mode or None";
    } else {
        return detail::text_list_setting<T> ? "list" : "list of float";
    }
}

[[nodiscard]] inline std::string text_of(bool value) { return value ? "True" : "False"; }
[[nodiscard]] inline std::string text_of(std::int64_t value) { return std::to_string(value); }
[[nodiscard]] inline std::string text_of(int value) { return std::to_string(value); }
[[nodiscard]] inline std::string text_of(const std::string& value) { return value; }
[[nodiscard]] inline std::string text_of(mode value) { return std::string{name_of(value)}; }

/// The fewest digits that bring the value back, laid out as Python does: "0.1", "10.0", "1e-07", "1e+16", "inf", "nan".
[[nodiscard]] std::string text_of(double value);

/// "None" where there is no value.
template <class T>
[[nodiscard]] std::string text_of(const std::optional<T>& value) {
    return value ? text_of(*value) : "None";
}

/// Items with commas between them; "None" where no list was given, so that a list of this one word is "None,".  Loses where an
/// item ends that holds a comma.
[[nodiscard]] std::string text_of(const std::vector<std::string>& value);
[[nodiscard]] inline std::string text_of(const text_list& value) {
    return value.given() ? text_of(value.texts()) : "None";
}
[[nodiscard]] std::string text_of(const std::vector<double>& value);

// Texts to values -------------------------------------------------------------------------------------------------

namespace detail {

/// What the text of a setting of type T must be, for a message that says "parameter x must be ...".
template <setting_value T>
[[nodiscard]] constexpr std::string_view wanted_of() noexcept {
    if constexpr (std::same_as<T, bool>) {
        return "True or False";
    } else if constexpr (whole_number_setting<T>) {
        return "a whole number";
    } else if constexpr (std::same_as<T, double>) {
        return "a number";
    } else if constexpr (std::same_as<T, std::optional<int>> || std::same_as<T, std::optional<std::int64_t>>) {
        return "a whole number or None";
    } else if constexpr (std::same_as<T, std::optional<double>>) {
        return "a number or None";
    } else if constexpr (std::same_as<T, std::optional<mode>>) {
        return "TRAIN, EVAL, PREDICT, GLOBAL or None";
    } else if constexpr (std::same_as<T, std::vector<double>>) {
        return "numbers with commas between them";
    } else {
        return text_list_setting<T> ? "a list" : "a text";
    }
}

template <setting_value T>
[[noreturn]] void refuse_setting(std::string_view text) {
    throw value_error("must be " + std::string{wanted_of<T>()} + ", not \"" + std::string{text} + "\"");
}

[[nodiscard]] constexpr std::string_view without_blanks(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\r\n";
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

/// The whole text as a number, whatever the locale; nothing for NaN and what a Number cannot hold.
template <class Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text) noexcept {
    text = without_blanks(text);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') {
        text.remove_prefix(1);
    }
    Number number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    if constexpr (std::floating_point<Number>) {
        if (std::isnan(number)) {
            return std::nullopt;
        }
    }
    return number;
}

/// The items between commas, without blanks around them; what is blank is no item.
[[nodiscard]] std::vector<std::string> items_in(std::string_view text);

}  // namespace detail

/// Sets `to` to what a text says; blanks around a number or an item do not count.
///   bool:     True, true, False or false, and nothing else;
///   numbers:  as in C, whatever the locale: "1e-7", "inf"; NaN is refused, and what an int64 or a double cannot hold;
///   optional: "" and "None" are no value; modes are TRAIN, EVAL, PREDICT, GLOBAL;
///   lists:    items between commas; "" is a list without items, and "None" as good as no list.
/// Regular expressions are taken as they are: rules/ does not know the engine that checks them.
/// Errors: value_error, with a sentence to stand behind the parameter's name: must be a number, not "x".  `to` stays.
template <setting_value T>
void parse_setting(std::string_view text, T& to) {
    if constexpr (std::same_as<T, bool>) {
        if (text != "True" && text != "true" && text != "False" && text != "false") {
            detail::refuse_setting<T>(text);
        }
        to = text == "True" || text == "true";
    } else if constexpr (std::same_as<T, std::string>) {
        to = text;
    } else if constexpr (std::same_as<T, text_list>) {
        to = detail::without_blanks(text) == "None" ? text_list{} : text_list{detail::items_in(text)};
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
        to = detail::without_blanks(text) == "None" ? T{} : detail::items_in(text);
    } else if constexpr (std::same_as<T, std::vector<double>>) {
        std::vector<double> numbers;
        if (detail::without_blanks(text) != "None") {
            for (const std::string& item : detail::items_in(text)) {
                const auto number = detail::number_in<double>(item);
                numbers.push_back(number ? *number : (detail::refuse_setting<T>(text), 0.0));
            }
        }
        to = std::move(numbers);
    } else if constexpr (detail::is_optional_setting<T>) {
        const std::string_view bare = detail::without_blanks(text);
        T read;
        if constexpr (std::same_as<T, std::optional<mode>>) {
            read = mode_named(bare);
        } else {
            read = detail::number_in<typename T::value_type>(bare);
        }
        if (!read && !bare.empty() && bare != "None") {
            detail::refuse_setting<T>(text);
        }
        to = read;
    } else {
        const auto number = detail::number_in<T>(text);
        to = number ? *number : (detail::refuse_setting<T>(text), T{});
    }
}

/// The same for a list that was given as one, so that an item may hold commas; for anything but a list, one item.
/// Errors: value_error.
template <setting_value T>
void parse_setting(const std::vector<std::string>& items, T& to) {
    if constexpr (detail::text_list_setting<T>) {
        std::vector<std::string> kept;
        for (const std::string& item : items) {
            if (const std::string_view bare = detail::without_blanks(item); !bare.empty()) {
                kept.emplace_back(bare);
            }
        }
        to = std::move(kept);
    } else if constexpr (std::same_as<T, std::vector<double>>) {
        std::string joined;
        for (const std::string& item : items) {
            joined.append(joined.empty() ? "" : ",").append(item);
        }
        parse_setting(std::string_view{joined}, to);
    } else {
        if (items.size() != 1) {
            throw value_error("must be " + std::string{detail::wanted_of<T>()} + ", not a list of " +
                              std::to_string(items.size()));
        }
        parse_setting(std::string_view{items.front()}, to);
    }
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/setting_text.ipp>
#endif
