// Writing JSON text: strings and numbers.  Reading it is index/json_document.hpp's work.
// Used by: cli, tests, benchmarks, later the hook.
#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Appends `text` as a JSON string, quotes and all.  UTF-8 goes through as it is; bytes that are no UTF-8 do, too.
inline void append_json_string(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += '"';
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (code < 0x20 || code == 0x7F) {
            out += "\\u00";
            out += digits[code >> 4U];
            out += digits[code & 15U];
        } else {
            out += c;
        }
    }
    out += '"';
}

/// A double with the 17 digits that bring it back exactly; "NaN", "Infinity", "-Infinity" where it is not finite.
[[nodiscard]] inline std::string double_text(double value) {
    if (std::isnan(value)) {
        return "NaN";
    }
    if (std::isinf(value)) {
        return value > 0 ? "Infinity" : "-Infinity";
    }
    char text[40] = {};
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 17).ptr;
    return {text, static_cast<std::size_t>(end - text)};
}

/// A double for people: the shortest of about six digits.
[[nodiscard]] inline std::string short_text(double value) {
    char text[40] = {};
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
    return {text, static_cast<std::size_t>(end - text)};
}

/// Appends a double as a JSON number; a JSON string where it is not finite, as JSON has no number for it.
inline void append_json_number(std::string& out, double value) {
    const std::string text = double_text(value);
    if (std::isfinite(value)) {
        out += text;
    } else {
        append_json_string(out, text);
    }
}

}  // namespace v1
}  // namespace smdebug
