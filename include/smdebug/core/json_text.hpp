// Writes JSON text: strings and numbers. core/json_document.hpp reads it.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/printable_text.hpp>

#include <charconv>
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
void append_json_escape(std::string& out, std::uint32_t code);

}  // namespace detail

/// Appends `text` as a quoted JSON string that a terminal may show: printable characters are copied, others (see
/// is_printable) are escaped. A byte that is not UTF-8 becomes U+FFFD, as JSON cannot hold raw bytes.
void append_json_string(std::string& out, std::string_view text);

/// Appends `text` as a JSON string in ASCII alone, byte for byte as Python's json.dumps writes it by default: other
/// characters become `\uXXXX`. A byte that begins no UTF-8 character becomes U+FFFD, so that the JSON stays valid; call
/// is_utf8 first where that loss matters.
void append_json_ascii(std::string& out, std::string_view text);

/// A double with 17 digits, from which it can be restored exactly; "NaN", "Infinity", "-Infinity" if it is not finite.
[[nodiscard]] std::string double_text(double value);

/// A double for people: the shortest text with about six digits.
[[nodiscard]] std::string short_text(double value);

/// Appends a whole number.
template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
inline void append_json_integer(std::string& out, Integer value) {
    char text[24] = {};
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, static_cast<std::size_t>(end - text));
}

/// Appends a double as a JSON number, or as a JSON string if it is not finite, since JSON has no number for that.
void append_json_number(std::string& out, double value);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/json_text.ipp>
#endif
