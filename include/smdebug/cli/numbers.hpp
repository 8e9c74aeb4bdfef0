// Numbers and step ranges from the command line.
// Decimal digits and nothing else: "010" is ten, and neither a sign nor a blank nor a locale has a say.
// Used by: cli/arguments.hpp.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/core/step.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// A whole number from `least` on, in decimal digits only.  Errors: usage_error.
template <std::integral Number>
[[nodiscard]] Number whole_number(const std::string& option, std::string_view text, Number least) {
    Number number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size() || number < least) {
        throw usage_error(option + " must be a whole number, " + std::to_string(least) + " or more, not \"" +
                          std::string{text} + "\"");
    }
    return number;
}

/// "A:B" is [A, B); either may be left out; "A" is that step alone.  Errors: usage_error.
[[nodiscard]] inline step_range parse_range(const std::string& text) {
    const std::size_t colon = text.find(':');
    const auto bound = [&](std::string_view part) {
        return part.empty() ? std::nullopt : std::optional{whole_number<step_number>("--steps", part, 0)};
    };
    const std::string_view all = text;
    if (colon == std::string::npos) {
        const auto only = whole_number<step_number>("--steps", all, 0);
        return {only, only == std::numeric_limits<step_number>::max() ? std::nullopt : std::optional{only + 1}};
    }
    const step_range range{bound(all.substr(0, colon)), bound(all.substr(colon + 1))};
    if (!range.valid()) {
        throw usage_error("--steps " + text + ": the first step must be below the last one, which is not included");
    }
    return range;
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
