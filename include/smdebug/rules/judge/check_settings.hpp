// What check() of the built-in rules refuses: settings that are missing, and numbers out of range.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/trial/options.hpp>

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace smdebug::inline v1::rules::detail {

/// Errors: insufficient_information_for_rule_invocation: `what` is needed, unless it is given.
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

}  // namespace smdebug::inline v1::rules::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/check_settings.ipp>
#endif
