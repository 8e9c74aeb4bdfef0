// Writing JSON text: strings and numbers.  Reading it is core/json_document.hpp's work.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/utf8.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// The ASCII at the beginning of `text` that stands in a JSON string as it is.
[[nodiscard]] constexpr std::string_view plain_in_json(std::string_view text) noexcept {
    std::size_t length = 0;
    while (length < text.size() && text[length] >= ' ' && text[length] < '\x7F' && text[length] != '"' &&
           text[length] != '\\') {
        ++length;
    }
    return text.substr(0, length);
}

/// Appends `text` in quotes: plain ASCII as it is, quotes and backslashes as escapes, and of any other character what
/// write(code, bytes) appends; `bytes` is empty where there is a byte that is no UTF-8, and `code` U+FFFD.
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

}  // namespace detail

/// Appends `text` as a JSON string, quotes and all: characters that are printable as they are, others (is_printable) as
/// escapes, so that a terminal may show it.  A byte that is no UTF-8 becomes U+FFFD: JSON has no bytes.
void append_json_string(std::string& out, std::string_view text);

/// Appends `text` as a JSON string in ASCII alone, byte for byte as Python's json.dumps writes it by default: what is
/// beyond ASCII as `\uXXXX`.  A byte that begins no character of UTF-8 becomes U+FFFD, so that the JSON stays valid: use
/// is_utf8 where that would be a loss.
void append_json_ascii(std::string& out, std::string_view text);

/// A double with the 17 digits that bring it back exactly; "NaN", "Infinity", "-Infinity" where it is not finite.
[[nodiscard]] std::string double_text(double value);

/// A double for people: the shortest of about six digits.
[[nodiscard]] std::string short_text(double value);

/// Appends a whole number.
template <std::integral Integer>
    requires(!std::same_as<Integer, bool>)
inline void append_json_integer(std::string& out, Integer value) {
    char text[24] = {};
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, static_cast<std::size_t>(end - text));
}

/// Appends a double as a JSON number; a JSON string where it is not finite, as JSON has no number for it.
void append_json_number(std::string& out, double value);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/json_text.ipp>
#endif
