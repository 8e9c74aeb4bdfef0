// Makes untrusted text safe to show: names of tensors, runs, rules and files, and what a server says. The result can
// neither control a terminal, nor break or reverse a line, nor hide a part of itself. All messages of errors and of the
// program pass through it.
#pragma once

#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// Whether a character is shown unescaped. Not printable are: controls (C0, DEL, and C1, in which U+009B begins
/// terminal commands), line and paragraph separators, characters that set the writing direction, and invisible ones
/// such as U+FEFF and tags.
/// The joiners U+200C and U+200D are printable: scripts and emoji need them.
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

/// Appends `text`, with escapes for what is not printable: `\n`, `\r`, `\t`, otherwise `\x1b`, `\u202e` or
/// `\U000e0041`; a byte that is not UTF-8 becomes `\xff`. Printable text is not changed, so applying it twice is
/// harmless.
void append_printable(std::string& out, std::string_view text);

/// The text with those escapes, as a string of its own.
[[nodiscard]] std::string printable(std::string_view text);

// Decodes and validates UTF-8.

/// Whether a byte is a continuation byte.
[[nodiscard]] constexpr bool continues_utf8_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

namespace detail {

/// A character and its length in bytes; length 0: none.
struct utf8_character {
    std::uint32_t code = 0;
    std::size_t length = 0;
};

}  // namespace detail

/// The character at the beginning of `text`, which is not empty; length 0 if no valid character begins there.
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

/// Whether `text` is valid UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
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

namespace detail {

/// `text` without the blanks at its ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text,
                                                 std::string_view blanks = " \t\r\n\v\f") noexcept {
    const std::size_t begin = text.find_first_not_of(blanks);
    return begin == std::string_view::npos ? std::string_view{}
                                           : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// Lower-cases A to Z, in any locale; all other bytes stay.
[[nodiscard]] constexpr char in_small_letters(char letter) noexcept {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}
[[nodiscard]] std::string in_small_letters(std::string_view text);

/// At most that many bytes of a text, cut between characters of UTF-8.
[[nodiscard]] constexpr std::string_view cut_text(std::string_view text, std::size_t most) noexcept {
    if (text.size() <= most) {
        return text;
    }
    std::size_t end = most;
    while (end > 0 && most - end < 3 && continues_utf8_character(text[end])) {
        --end;
    }
    return text.substr(0, continues_utf8_character(text[end]) ? most : end);  // invalid UTF-8: any place will do
}

/// Appends a field as in RFC 4180: quoted if it contains a comma, a quote or a line end.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace detail

/// How many insertions, deletions and replacements turn one text into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The names that a user may have meant by `wanted`, the likeliest first: names that contain it or are contained in it,
/// and names that differ in a few letters. Case is ignored.
[[nodiscard]] std::vector<std::string> near_matches(std::string_view wanted, std::span<const std::string> names,
                                                    std::size_t most = 5);

/// " Did you mean a, b or c?" with the suggested names, or an empty text if there are none.
[[nodiscard]] std::string did_you_mean(std::span<const std::string> near);

/// Suggests those of `names` that near_matches() finds, at most `most`.
[[nodiscard]] std::string did_you_mean(std::string_view wanted, std::span<const std::string> names,
                                       std::size_t most = 5);

/// What to append to a message about an unknown name: did_you_mean() with at most three names, or else " There are: a,
/// b" with the first 20.
[[nodiscard]] std::string near_or_all(std::string_view wanted, std::span<const std::string> names);

/// Whether a relative path names something below its root: not empty, not absolute, no "..", no NUL.
/// To an object store these are ordinary keys, but a proxy in between may interpret them as paths, and no file of a run
/// has such a name.
[[nodiscard]] constexpr bool stays_inside(std::string_view path) noexcept {
    if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) {
        return false;
    }
    for (;;) {
        const std::size_t end = path.find('/');
        if (path.substr(0, end) == "..") {
            return false;
        }
        if (end == std::string_view::npos) {
            return true;
        }
        path.remove_prefix(end + 1);
    }
}

/// Whether a key is that of a resource fork, "._x" beside "x", which macOS leaves on other file systems and in
/// archives. Such a file belongs to no run, whatever its extension.
[[nodiscard]] constexpr bool is_resource_fork(std::string_view key) noexcept {
    return key.substr(key.rfind('/') + 1).starts_with("._");  // npos + 1 is 0
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/printable_text.ipp>
#endif
