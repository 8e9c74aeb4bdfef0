// The bodies of <smdebug/core/printable_text.hpp>.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/utf8.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE void append_printable(std::string& out, std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto escape = [&](char kind, std::uint32_t code, unsigned count) {
        out += '\\';
        out += kind;
        for (unsigned i = count; i-- > 0;) {
            out += digits[(code >> (4 * i)) & 15U];
        }
    };
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && text[plain] >= ' ' && text[plain] <= '~') {
            ++plain;
        }
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) {
            return;
        }
        const auto [code, length] = first_utf8_character(text);
        if (length == 0) {
            escape('x', static_cast<unsigned char>(text.front()), 2);
        } else if (is_printable(code)) {
            out.append(text.substr(0, length));
        } else if (code == '\n' || code == '\r' || code == '\t') {
            out.append(code == '\n' ? "\\n" : (code == '\r' ? "\\r" : "\\t"));
        } else if (code < 0x80) {
            escape('x', code, 2);
        } else if (code < 0x10000) {
            escape('u', code, 4);
        } else {
            escape('U', code, 8);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

SMDEBUG_INLINE std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    append_printable(out, text);
    return out;
}

}  // namespace v1
}  // namespace smdebug
