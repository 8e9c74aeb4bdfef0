// Percent-encoding of keys and query values, in the one form that signatures of AWS are made over.
// Used by: s3.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {

/// Whether a character goes into a URL as it is: the unreserved ones of RFC 3986.
[[nodiscard]] constexpr bool is_unreserved(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

/// Appends `text` with all but the unreserved characters as %XX in capitals: a space is "%20", a plus "%2B".  Slashes
/// stay where they part a path.  Any bytes will do.
inline void append_percent_encoded(std::string& out, std::string_view text, bool keep_slashes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char c : text) {
        if (is_unreserved(c) || (c == '/' && keep_slashes)) {
            out += c;
        } else {
            const auto code = static_cast<unsigned char>(c);
            out += '%';
            out += digits[code >> 4U];
            out += digits[code & 15U];
        }
    }
}

/// The same as a text of its own.
[[nodiscard]] inline std::string percent_encoded(std::string_view text, bool keep_slashes) {
    std::string out;
    out.reserve(text.size() + text.size() / 4);
    append_percent_encoded(out, text, keep_slashes);
    return out;
}

namespace detail {

/// What a hexadecimal digit is worth; -1 where it is none.
[[nodiscard]] constexpr int hex_digit(char c) noexcept {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace detail

/// The text that was encoded, in capitals or not; nothing where an escape is cut or is none.  '+' stays '+'.
[[nodiscard]] inline std::optional<std::string> percent_decoded(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t plain = text.find('%');
        out.append(text.substr(0, plain));
        if (plain == std::string_view::npos) {
            break;
        }
        text.remove_prefix(plain);
        const int high = text.size() < 3 ? -1 : detail::hex_digit(text[1]);
        const int low = text.size() < 3 ? -1 : detail::hex_digit(text[2]);
        if (high < 0 || low < 0) {
            return std::nullopt;
        }
        out += static_cast<char>(static_cast<unsigned char>(high * 16 + low));
        text.remove_prefix(3);
    }
    return out;
}

}  // namespace s3
}  // namespace v1
}  // namespace smdebug
