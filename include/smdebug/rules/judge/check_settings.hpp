// What check() of the built-in rules refuses: settings that are missing, and numbers out of range.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

/// The error of a rule that lacks a parameter.
[[nodiscard]] inline value_error insufficient_information(std::string_view rule, const std::string& what) {
    return {error_code::insufficient_information,
            "Insufficient information to invoke rule " + std::string{rule} + ": " + what};
}

/// Errors: insufficient_information: `what` is needed, unless it is given.
void require_setting(std::string_view rule, bool is_given, std::string_view what);
inline void require_choice(std::string_view rule, const text_list& collection_names, const text_list& tensor_regex) {
    require_setting(rule, !collection_names.empty() || !tensor_regex.empty(), "collection_names or tensor_regex");
}

/// The values that a setting may have.
struct allowed_range {
    double least = 0;
    double most = std::numeric_limits<double>::infinity();
    bool above_least = false;  ///< `least` itself is not allowed
    bool infinite = false;     ///< infinity is, as a limit that nothing reaches
};
inline constexpr allowed_range any_number{.least = -std::numeric_limits<double>::infinity(), .infinite = true};

/// Errors: value_error for a value that is NaN, infinite or out of range.
void check_range(std::string_view rule, std::string_view setting, double value, const allowed_range& allowed = {});
void check_range(std::string_view rule, std::string_view setting, std::integral auto value,
                 const allowed_range& allowed = {}) {
    check_range(rule, setting, static_cast<double>(value), allowed);
}
template <class Number>
void check_range(std::string_view rule, std::string_view setting, const std::optional<Number>& value,
                 const allowed_range& allowed = {}) {
    if (value) {
        check_range(rule, setting, *value, allowed);
    }
}

/// Checks how many earlier numbers a rule compares with, and how many it needs.  Errors: value_error.
inline void check_history(std::string_view rule, std::int64_t window, const std::optional<std::int64_t>& min_history) {
    check_range(rule, "window", window, {.least = 1});
    check_range(rule, "min_history", min_history, {.least = 1, .most = static_cast<double>(window)});
}

inline void require_setting(std::string_view rule, bool is_given, std::string_view what) {
    if (!is_given) {
        throw insufficient_information(rule, std::string{what} + " is needed");
    }
}

inline void check_range(std::string_view rule, std::string_view setting, double value, const allowed_range& allowed) {
    const bool is_low = allowed.above_least ? !(value > allowed.least) : !(value >= allowed.least);
    if (!is_low && value <= allowed.most && (allowed.infinite || is_finite(value))) {
        return;
    }
    std::string text = std::string{rule} + ": " + std::string{setting} + " is " + short_text(value) + "; it must be ";
    if (is_infinite(allowed.least)) {
        text += "a number";
    } else if (is_infinite(allowed.most)) {
        text += (allowed.above_least ? "a number above " : "a number of at least ") + short_text(allowed.least);
    } else {
        text += "from " + short_text(allowed.least) + " to " + short_text(allowed.most);
    }
    throw value_error(std::move(text));
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
