// Writing JSON text: strings and numbers.  Reading it is core/json_document.hpp's work.
// Used by: index, hook, cli, tests, benchmarks.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
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

namespace detail {

/// The character at the beginning of `text`, which is not empty, and how many bytes it takes: 0 where none that is
/// allowed begins.
struct utf8_character {
    std::uint32_t code = 0;
    std::size_t length = 0;
};

[[nodiscard]] constexpr utf8_character first_utf8_character(std::string_view text) noexcept {
    const auto lead = static_cast<unsigned char>(text.front());
    if (lead < 0x80) {
        return {lead, 1};
    }
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) {
        return {};
    }
    std::uint32_t code = lead & (0x7FU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[i]);
        if ((next & 0xC0U) != 0x80U) {
            return {};
        }
        code = (code << 6U) | (next & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return overlong || surrogate || code > 0x10FFFF ? utf8_character{} : utf8_character{code, length};
}

}  // namespace detail

/// Whether `text` is UTF-8 as the standard has it: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = detail::first_utf8_character(text).length;
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

/// Appends `text` as a JSON string in ASCII alone, byte for byte as Python's json.dumps writes it by default: what is
/// beyond ASCII as \uXXXX.  A byte that begins no character of UTF-8 becomes U+FFFD, so that the JSON stays valid: use
/// is_utf8 where that would be a loss.
inline void append_json_ascii(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::string_view short_forms = "btn?fr";  // of 8 to 13; 11 has none
    const auto unit = [&](std::uint32_t code) {
        const char escape[] = {
            '\\', 'u', digits[code >> 12U], digits[(code >> 8U) & 15U], digits[(code >> 4U) & 15U], digits[code & 15U]};
        out.append(escape, sizeof escape);
    };
    out += '"';
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && text[plain] >= ' ' && text[plain] < '\x7F' && text[plain] != '"' &&
               text[plain] != '\\') {
            ++plain;
        }
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) {
            break;
        }
        const auto [code, length] = detail::first_utf8_character(text);
        if (length == 0) {
            unit(0xFFFD);
        } else if (code == '"' || code == '\\') {
            out += '\\';
            out += static_cast<char>(code);
        } else if (code >= 8 && code <= 13 && code != 11) {
            out += '\\';
            out += short_forms[code - 8];
        } else if (code < 0x10000) {
            unit(code);
        } else {
            unit(0xD800 + ((code - 0x10000) >> 10U));
            unit(0xDC00 + ((code - 0x10000) & 0x3FFU));
        }
        text.remove_prefix(length == 0 ? 1 : length);
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

/// Appends a whole number.
template <std::integral Integer>
requires(!std::same_as<Integer, bool>) inline void append_json_integer(std::string& out, Integer value) {
    char text[24] = {};
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, static_cast<std::size_t>(end - text));
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
