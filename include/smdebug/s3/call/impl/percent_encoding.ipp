// The bodies of <smdebug/s3/call/percent_encoding.hpp>.
#pragma once

#include <smdebug/s3/call/percent_encoding.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

SMDEBUG_INLINE void append_percent_encoded(std::string& out, std::string_view text, bool keep_slashes) {
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

SMDEBUG_INLINE std::string percent_encoded(std::string_view text, bool keep_slashes) {
    std::string out;
    out.reserve(text.size() + text.size() / 4);
    append_percent_encoded(out, text, keep_slashes);
    return out;
}

SMDEBUG_INLINE std::optional<std::string> percent_decoded(std::string_view text) {
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

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug
