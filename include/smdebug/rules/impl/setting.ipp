// The bodies of <smdebug/rules/setting.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/setting.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

SMDEBUG_INLINE std::string text_of(bool value) { return value ? "True" : "False"; }

SMDEBUG_INLINE std::string text_of(std::int64_t value) { return std::to_string(value); }

SMDEBUG_INLINE std::string text_of(int value) { return std::to_string(value); }

SMDEBUG_INLINE std::string text_of(const std::string& value) { return value; }

SMDEBUG_INLINE std::string text_of(mode value) { return std::string{name_of(value)}; }

SMDEBUG_INLINE std::string text_of(double value) {
    if (is_nan(value)) {
        return "nan";
    }
    if (is_infinite(value)) {
        return value > 0 ? "inf" : "-inf";
    }
    char digits[40] = {};
    // Python's limits between the two forms: a power of ten from -4 to 15 is written out.
    const double size = std::fabs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    const auto form = plain ? std::chars_format::fixed : std::chars_format::scientific;
    const auto end = std::to_chars(digits, digits + sizeof digits, value, form).ptr;
    std::string text{digits, static_cast<std::size_t>(end - digits)};
    if (plain && text.find('.') == std::string::npos) {
        text += ".0";
    }
    return text;
}

SMDEBUG_INLINE std::string text_of(const std::vector<std::string>& value) {
    if (value.size() == 1 && value.front() == "None") {
        return "None,";  // without the comma it would be read as no list
    }
    std::string text;
    for (const std::string& item : value) {
        text.append(text.empty() ? "" : ",").append(item);
    }
    return text;
}

SMDEBUG_INLINE std::string text_of(const text_list& value) { return value.given() ? text_of(value.texts()) : "None"; }

SMDEBUG_INLINE std::string text_of(const std::vector<double>& value) {
    std::string text;
    for (const double item : value) {
        text.append(text.empty() ? "" : ",").append(text_of(item));
    }
    return text;
}

namespace detail {

SMDEBUG_INLINE std::vector<std::string> items_in(std::string_view text) {
    std::vector<std::string> items;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        if (const std::string_view item = without_blanks(text.substr(0, comma)); !item.empty()) {
            items.emplace_back(item);
        }
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return items;
}

}  // namespace detail
}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
