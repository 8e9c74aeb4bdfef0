// The bodies of <smdebug/rules/judge/check_settings.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/judge/check_settings.hpp>

#include <string>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

SMDEBUG_INLINE void require_setting(std::string_view rule, bool is_given, std::string_view what) {
    if (!is_given) {
        throw insufficient_information_for_rule_invocation(std::string{rule}, std::string{what} + " is needed");
    }
}

SMDEBUG_INLINE void check_range(std::string_view rule, std::string_view setting, double value,
                                const allowed_range& allowed) {
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
