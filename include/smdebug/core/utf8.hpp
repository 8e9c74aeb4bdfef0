// UTF-8: decoding characters, and validation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Whether a byte continues a character: it is not its first byte.
[[nodiscard]] constexpr bool continues_utf8_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

namespace detail {

/// A character, and how many bytes it takes: 0 where there is none.
struct utf8_character {
    std::uint32_t code = 0;
    std::size_t length = 0;
};

}  // namespace detail

/// The character at the beginning of `text`, which is not empty; of length 0 where none that is allowed begins.
[[nodiscard]] constexpr detail::utf8_character first_utf8_character(std::string_view text) noexcept {
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
        if (!continues_utf8_character(text[i])) {
            return {};
        }
        code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
    }
    const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    return overlong || surrogate || code > 0x10FFFF ? detail::utf8_character{} : detail::utf8_character{code, length};
}

/// Whether `text` is UTF-8 as the standard has it: no overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = first_utf8_character(text).length;
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace v1
}  // namespace smdebug
