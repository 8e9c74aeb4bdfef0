// Untrusted text - names of tensors, runs, rules, files, what a server says - made safe to show: it can neither control
// a terminal, nor break or reverse a line, nor hide a part of itself.  All messages of errors and of the program go
// through it.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Whether a character is shown as it is.  Not: controls (C0, DEL, C1, among which U+009B begins terminals' commands),
/// ends of lines and paragraphs, what sets the direction of writing, and what is never seen, such as U+FEFF and tags.
/// The joiners U+200C and U+200D are: scripts and emoji need them.
[[nodiscard]] constexpr bool is_printable(std::uint32_t code) noexcept {
    struct range {
        std::uint32_t first, last;
    };
    constexpr range hidden[] = {
        {0x00, 0x1F},     {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},   {0x180E, 0x180E}, {0x200B, 0x200B},
        {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}, {0xE0000, 0xE007F},
    };
    for (const range& each : hidden) {
        if (each.first <= code && code <= each.last) {
            return false;
        }
    }
    return true;
}

/// Appends `text`, with escapes for what is not printable: `\n`, `\r`, `\t`, else `\x1b`, `\u202e` or `\U000e0041`; each
/// byte that is no UTF-8 as `\xff`.  What is printable already is not changed, so it may be applied twice.
void append_printable(std::string& out, std::string_view text);

/// The same as a text of its own.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/printable_text.ipp>
#endif
