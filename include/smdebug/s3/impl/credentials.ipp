// The bodies of <smdebug/s3/credentials.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/text_number.hpp>
#include <smdebug/s3/credentials.hpp>

#include <array>
#include <cstddef>
#include <vector>

namespace smdebug::inline v1::s3 {
namespace detail {

/// A decoded character and its place in the text.
struct written_character {
    char is = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
};
using written_text = std::vector<written_character>;

SMDEBUG_INLINE written_text as_written(std::string_view text) {
    written_text read;
    read.reserve(text.size());
    for (const char c : text) {
        read.push_back({c, read.size(), read.size() + 1});
    }
    return read;
}

/// The character that an escape at that place encodes, and the escape's length; nothing if there is no escape.
SMDEBUG_INLINE std::optional<std::pair<char, std::size_t>> escape_at(const written_text& read, std::size_t at) {
    if (const char first = read[at].is; first != '%' && first != '&' && first != '\\') {
        return std::nullopt;
    }
    constexpr std::size_t longest = 12;  // "&#x0000002F;"
    std::array<char, longest> characters{};
    const std::size_t count = std::min(longest, read.size() - at);
    std::transform(read.begin() + static_cast<std::ptrdiff_t>(at),
                   read.begin() + static_cast<std::ptrdiff_t>(at + count), characters.begin(),
                   [](const written_character& one) { return one.is; });
    const std::string_view text{characters.data(), count};
    const auto number = [&](std::size_t begin, std::size_t end, int base) -> std::optional<char> {
        const bool is_there = begin < end && end <= text.size();
        const auto value = smdebug::detail::number_of_text<std::uint8_t>(
            is_there ? text.substr(begin, end - begin) : std::string_view{}, base);
        return value ? std::optional{static_cast<char>(*value)} : std::nullopt;
    };
    const auto found = [](std::optional<char> is, std::size_t length) {
        return is ? std::optional{std::pair{*is, length}} : std::nullopt;
    };
    for (const auto& [mark, end] : {std::pair<std::string_view, std::size_t>{"%", 3}, {"\\u", 6}, {"\\x", 4}}) {
        if (text.starts_with(mark)) {
            return found(number(mark.size(), end, 16), end);
        }
    }
    if (text.starts_with('\\') && text.size() > 1 &&
        std::string_view{"/\\\"'"}.find(text[1]) != std::string_view::npos) {
        return found(text[1], 2);
    }
    const std::size_t end = text.starts_with('&') ? text.find(';') : std::string_view::npos;
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    if (text.starts_with("&#")) {
        const bool is_hexadecimal = text[2] == 'x' || text[2] == 'X';  // the ';' is there at least
        return found(is_hexadecimal ? number(3, end, 16) : number(2, end, 10), end + 1);
    }
    constexpr std::array<std::pair<std::string_view, char>, 8> names{{{"amp", '&'},
                                                                      {"lt", '<'},
                                                                      {"gt", '>'},
                                                                      {"quot", '"'},
                                                                      {"apos", '\''},
                                                                      {"sol", '/'},
                                                                      {"plus", '+'},
                                                                      {"equals", '='}}};
    for (const auto& [name, is] : names) {
        if (text.substr(1, end - 1) == name) {
            return found(is, end + 1);
        }
    }
    return std::nullopt;
}

/// Decodes each escape; false if there is none.
SMDEBUG_INLINE bool unescape(written_text& read) {
    written_text out;
    out.reserve(read.size());
    for (std::size_t at = 0; at < read.size();) {
        const auto escaped = escape_at(read, at);
        const std::size_t length = escaped ? escaped->second : 1;
        out.push_back({escaped ? escaped->first : read[at].is, read[at].begin, read[at + length - 1].end});
        at += length;
    }
    const bool changed = out.size() != read.size();
    read = std::move(out);
    return changed;
}

/// The form in which a character is compared; nothing if it is ignored: with `words_only`, all but letters and digits
/// are, since others may have been inserted.
constexpr std::optional<char> compared(char c, letter_case how, bool words_only) noexcept {
    const char seen = how == letter_case::any ? smdebug::detail::in_small_letters(c) : c;
    return !words_only || is_alphanumeric(c) ? std::optional{seen} : std::nullopt;
}

/// So many characters in a row of a text, as one number, and their place.  Shorter pieces of a secret occur in any
/// text.
struct piece {
    std::uint64_t characters = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
};
inline constexpr std::size_t least_piece = 5;

SMDEBUG_INLINE std::vector<piece> pieces_of(const written_text& text, letter_case how, bool words_only) {
    constexpr std::uint64_t all = (std::uint64_t{1} << (8 * least_piece)) - 1;
    std::vector<piece> pieces;
    piece last;
    std::array<std::size_t, least_piece> begins{};
    std::size_t count = 0;
    for (const written_character& one : text) {
        if (const auto c = compared(one.is, how, words_only)) {
            last.characters = ((last.characters << 8U) | static_cast<unsigned char>(*c)) & all;
            begins[count++ % least_piece] = one.begin;
            if (count >= least_piece) {
                pieces.push_back({last.characters, begins[count % least_piece], one.end});
            }
        }
    }
    return pieces;
}

SMDEBUG_INLINE void hide_pieces(std::string& text, std::span<const std::string_view> secrets, letter_case how) {
    std::vector<bool> marked(text.size(), false);
    for (const bool words_only : {false, true}) {
        std::vector<std::uint64_t> hidden;
        for (const std::string_view secret : secrets) {
            for (const piece& one : pieces_of(as_written(secret), how, words_only)) {
                hidden.push_back(one.characters);
            }
        }
        std::sort(hidden.begin(), hidden.end());
        written_text read = as_written(text);
        constexpr int most_times = 3;
        for (int times = 0; times == 0 || (times <= most_times && unescape(read)); ++times) {
            for (const piece& one : pieces_of(read, how, words_only)) {
                if (std::binary_search(hidden.begin(), hidden.end(), one.characters)) {
                    std::fill(marked.begin() + static_cast<std::ptrdiff_t>(one.begin),
                              marked.begin() + static_cast<std::ptrdiff_t>(one.end), true);
                }
            }
        }
    }
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!marked[at]) {
            out += text[at];
        } else if (at == 0 || !marked[at - 1]) {
            out += "...";
        }
    }
    text = std::move(out);
}

SMDEBUG_INLINE std::string plain_word(std::string_view text, std::string_view others) {
    const bool plain = text.size() <= 128 && std::all_of(text.begin(), text.end(), [&](char c) {
                           return is_alphanumeric(c) || others.find(c) != std::string_view::npos;
                       });
    return std::string{plain ? text : std::string_view{}};
}

}  // namespace detail

SMDEBUG_INLINE void hide_keys(std::string& text, const access_keys& keys, detail::letter_case how) {
    const std::array all{std::string_view{keys.token}, std::string_view{keys.secret}, std::string_view{keys.id}};
    for (const std::string_view hidden : all) {
        for (std::size_t at = hidden.empty() ? std::string::npos : text.find(hidden); at != std::string::npos;
             at = text.find(hidden, at + 3)) {
            text.replace(at, hidden.size(), "...");
        }
    }
    detail::hide_pieces(text, all, how);
}

SMDEBUG_INLINE void check_keys(const access_keys& keys, const std::string& from) {
    if (keys.id.empty() || keys.secret.empty()) {
        throw value_error("The keys for S3 in " + from + " lack " +
                          (keys.id.empty() ? "the access key id" : "the secret access key") + ": both are needed.");
    }
    for (const auto& [what, text] : {std::pair<const char*, std::string_view>{"access key id", keys.id},
                                     {"secret access key", keys.secret},
                                     {"session token", keys.token}}) {
        if (!fits_header(text)) {
            throw value_error(std::string{"The "} + what + " in " + from +
                              " contains a line break or another control character: it was not copied correctly.");
        }
    }
}

}  // namespace smdebug::inline v1::s3
