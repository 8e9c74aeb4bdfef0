// Writes JSON text: strings and numbers. core/json_document.hpp reads it.
#pragma once

#include <smdebug/core/printable_text.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {

namespace detail {

/// The longest ASCII prefix of `text` that needs no escapes in a JSON string.
[[nodiscard]] constexpr std::string_view plain_in_json(std::string_view text) noexcept {
    std::size_t length = 0;
    while (length < text.size() && text[length] >= ' ' && text[length] < '\x7F' && text[length] != '"' &&
           text[length] != '\\') {
        ++length;
    }
    return text.substr(0, length);
}

/// Appends `text` in quotes. Plain ASCII is copied, quotes and backslashes are escaped, and for any other character
/// write(code, bytes) appends the text; for a byte that is not UTF-8 `bytes` is empty and `code` is U+FFFD.
template <class Write>
void append_json_quoted(std::string& out, std::string_view text, Write&& write) {
    out += '"';
    while (true) {
        const std::string_view plain = plain_in_json(text);
        out.append(plain);
        text.remove_prefix(plain.size());
        if (text.empty()) {
            break;
        }
        const auto [code, length] = first_utf8_character(text);
        if (code == '"' || code == '\\') {
            out += '\\';
            out += static_cast<char>(code);
        } else {
            write(length == 0 ? std::uint32_t{0xFFFD} : code, text.substr(0, length));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    out += '"';
}

/// Appends \uXXXX, as a surrogate pair where necessary.
inline void append_json_escape(std::string& out, std::uint32_t code) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto unit = [&](std::uint32_t half) {
        const char escape[] = {
            '\\', 'u', digits[half >> 12U], digits[(half >> 8U) & 15U], digits[(half >> 4U) & 15U], digits[half & 15U]};
        out.append(escape, sizeof escape);
    };
    if (code < 0x10000) {
        unit(code);
    } else {
        unit(0xD800 + ((code - 0x10000) >> 10U));
        unit(0xDC00 + ((code - 0x10000) & 0x3FFU));
    }
}

}  // namespace detail

/// Appends `text` as a quoted JSON string that a terminal may show: printable characters are copied, others (see
/// is_printable) are escaped. A byte that is not UTF-8 becomes U+FFFD, as JSON cannot hold raw bytes.
inline void append_json_string(std::string& out, std::string_view text) {
    detail::append_json_quoted(out, text, [&](std::uint32_t code, std::string_view bytes) {
        if (bytes.empty()) {
            out += "\xEF\xBF\xBD";
        } else if (code == '\n' || code == '\t') {
            out += code == '\n' ? "\\n" : "\\t";
        } else if (is_printable(code)) {
            out.append(bytes);
        } else {
            detail::append_json_escape(out, code);
        }
    });
}

/// Appends `text` as a JSON string in ASCII alone, byte for byte as Python's json.dumps writes it by default: other
/// characters become `\uXXXX`. A byte that begins no UTF-8 character becomes U+FFFD, so that the JSON stays valid; call
/// is_utf8 first where that loss matters.
inline void append_json_ascii(std::string& out, std::string_view text) {
    detail::append_json_quoted(out, text, [&](std::uint32_t code, std::string_view /*bytes*/) {
        constexpr std::string_view short_forms = "btn?fr";  // for 8 to 13; 11 has no short form
        if (code >= 8 && code <= 13 && code != 11) {
            out += '\\';
            out += short_forms[code - 8];
        } else {
            detail::append_json_escape(out, code);
        }
    });
}

/// A double with 17 digits, from which it can be restored exactly; "NaN", "Infinity", "-Infinity" if it is not finite.
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

/// A double for people: the shortest text with about six digits.
[[nodiscard]] inline std::string short_text(double value) {
    char text[40] = {};
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
    return {text, static_cast<std::size_t>(end - text)};
}

/// Appends a whole number.
template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
inline void append_json_integer(std::string& out, Integer value) {
    char text[24] = {};
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, static_cast<std::size_t>(end - text));
}

/// Appends a double as a JSON number, or as a JSON string if it is not finite, since JSON has no number for that.
inline void append_json_number(std::string& out, double value) {
    const std::string text = double_text(value);
    if (std::isfinite(value)) {
        out += text;
    } else {
        append_json_string(out, text);
    }
}

}  // namespace smdebug::inline v1
