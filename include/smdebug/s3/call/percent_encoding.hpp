// Percent-encoding of keys and query values, in the one form that signatures of AWS are made over.
#pragma once

#include <smdebug/core/form.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Whether a character goes into a URL as it is: the unreserved ones of RFC 3986.
[[nodiscard]] constexpr bool is_unreserved(char c) noexcept {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

/// Appends `text` with all but the unreserved characters as %XX in capitals: a space is "%20", a plus "%2B".  Slashes
/// stay where they part a path.  Any bytes will do.
void append_percent_encoded(std::string& out, std::string_view text, bool keep_slashes);

/// The same as a text of its own.
[[nodiscard]] std::string percent_encoded(std::string_view text, bool keep_slashes);

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

/// The text that was encoded, in capitals or not; nothing where an escape is cut or is none.  '+' stays '+'.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/percent_encoding.ipp>
#endif
