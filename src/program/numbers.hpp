// Numbers, step ranges and times from the command line.
// Decimal digits only: "010" is ten; signs and blanks are errors, and the locale is ignored.
#pragma once

#include <program/console.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/text_number.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug::inline v1::cli::detail {

/// A whole number from `least` on, in decimal digits only.  Errors: usage_error.
template <std::integral Number>
[[nodiscard]] Number whole_number(const std::string& option, std::string_view text, Number least) {
    const auto number = smdebug::detail::number_of_text<Number>(text);
    if (!number || *number < least) {
        throw usage_error(option + " must be a whole number, " + std::to_string(least) + " or more, not \"" +
                          std::string{text} + "\"");
    }
    return *number;
}

/// A number such as 0.5 or 1e-5, 0 or more.  Errors: usage_error.
[[nodiscard]] double real_number(const std::string& option, std::string_view text);

/// "A:B" is [A, B); either may be left out; "A" is that step alone.  Errors: usage_error.
[[nodiscard]] step_range parse_range(const std::string& text);

/// "500ms", "90s", "10m", "2h", "3d"; without a unit it is seconds.  Positive.  Errors: usage_error.
[[nodiscard]] std::chrono::milliseconds parse_duration(const std::string& option, std::string_view text);

/// "500M", "2G": a whole number of bytes, or of K, M, G or T, powers of 1024; "2GiB" and "2GB" are the same as "2G".
/// Positive.  Errors: usage_error.
[[nodiscard]] std::uint64_t parse_size(const std::string& option, std::string_view text);

}  // namespace smdebug::inline v1::cli::detail
