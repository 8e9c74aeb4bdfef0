// The bodies of <smdebug/core/json_text.hpp>.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE void append_json_escape(std::string& out, std::uint32_t code) {
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

SMDEBUG_INLINE void append_json_string(std::string& out, std::string_view text) {
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

SMDEBUG_INLINE void append_json_ascii(std::string& out, std::string_view text) {
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

SMDEBUG_INLINE std::string double_text(double value) {
    if (is_nan(value)) {
        return "NaN";
    }
    if (is_infinite(value)) {
        return value > 0 ? "Infinity" : "-Infinity";
    }
    char text[40] = {};
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 17).ptr;
    return {text, static_cast<std::size_t>(end - text)};
}

SMDEBUG_INLINE std::string short_text(double value) {
    char text[40] = {};
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
    return {text, static_cast<std::size_t>(end - text)};
}

SMDEBUG_INLINE void append_json_number(std::string& out, double value) {
    const std::string text = double_text(value);
    if (is_finite(value)) {
        out += text;
    } else {
        append_json_string(out, text);
    }
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
