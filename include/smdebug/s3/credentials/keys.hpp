// The keys that sign requests to S3.
#pragma once

#include <smdebug/core/form.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Finds secrets in a text: whole, in pieces, escaped as in URLs, HTML and JSON, or spread out.
// Pure functions.
namespace smdebug::inline v1::s3 {
namespace detail {

/// Whether 'a' may stand for 'A', as in host names.
enum class letter_case : std::uint8_t { any, as_it_is };

/// The shortest piece of a secret that is recognised; shorter ones occur in any text.
inline constexpr std::size_t least_piece = 5;

/// A decoded character and its place in the text.
struct written_character {
    char is = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
};
using written_text = std::vector<written_character>;

[[nodiscard]] written_text as_written(std::string_view text);

/// The character that an escape at that place encodes, and the escape's length; nothing if there is no escape.
[[nodiscard]] std::optional<std::pair<char, std::size_t>> escape_at(const written_text& read, std::size_t at);

/// Decodes each escape; false if there is none.
[[nodiscard]] bool unescape(written_text& read);

/// The form in which a character is compared; nothing if it is ignored: with `words_only`, all but letters and digits
/// are, since others may have been inserted.
[[nodiscard]] constexpr std::optional<char> compared(char c, letter_case how, bool words_only) noexcept {
    const bool is_capital = c >= 'A' && c <= 'Z';
    const bool counts = !words_only || is_capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const char seen = how == letter_case::any && is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    return counts ? std::optional{seen} : std::nullopt;
}

/// Calls visit(piece, first, last) for each piece: its characters as a number, and their range in `text`.
template <class Characters, class Of, class Visit>
void for_each_piece(const Characters& text, Of&& of, letter_case how, bool words_only, Visit&& visit) {
    constexpr std::uint64_t all = (std::uint64_t{1} << (8 * least_piece)) - 1;
    std::uint64_t piece = 0;
    std::array<std::size_t, least_piece> places{};
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto c = compared(of(text[at]), how, words_only);
        if (!c) {
            continue;
        }
        piece = ((piece << 8U) | static_cast<unsigned char>(*c)) & all;
        places[count % least_piece] = at;
        if (++count >= least_piece) {
            visit(piece, places[count % least_piece], at);
        }
    }
}

/// Replaces all parts of secrets in a text by "...": any five consecutive characters of one, also if they are escaped
/// (up to three times), or separated by other characters than letters and digits.  Cost: some tens of microseconds
/// for a message of 300 characters.
template <class Secrets>
void hide_pieces(std::string& text, const Secrets& secrets, letter_case how = letter_case::any) {
    if (text.size() < detail::least_piece) {
        return;
    }
    std::vector<bool> marked(text.size(), false);
    for (const bool words_only : {false, true}) {
        std::vector<std::uint64_t> pieces;
        for (const std::string_view secret : secrets) {
            detail::for_each_piece(
                secret, [](char c) { return c; }, how, words_only,
                [&](std::uint64_t piece, std::size_t, std::size_t) { pieces.push_back(piece); });
        }
        std::sort(pieces.begin(), pieces.end());
        detail::written_text read = detail::as_written(text);
        constexpr int most_times = 3;
        for (int times = 0; times == 0 || (times <= most_times && detail::unescape(read)); ++times) {
            detail::for_each_piece(
                read, [](const detail::written_character& one) { return one.is; }, how, words_only,
                [&](std::uint64_t piece, std::size_t first, std::size_t last) {
                    if (std::binary_search(pieces.begin(), pieces.end(), piece)) {
                        std::fill(marked.begin() + static_cast<std::ptrdiff_t>(read[first].begin),
                                  marked.begin() + static_cast<std::ptrdiff_t>(read[last].end), true);
                    }
                });
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

}  // namespace detail

/// The keys of one identity.  An empty optional of them means anonymous access.
/// Deliberately not printable: not even the id belongs in a message or a log.
struct access_keys {
    std::string id = {};
    std::string secret = {};
    std::string token = {};  ///< for temporary keys: sent with each request.  Empty: none
    /// When they expire, if known.
    std::optional<std::chrono::system_clock::time_point> expires = {};
    friend bool operator==(const access_keys&, const access_keys&) = default;
};

/// Replaces all parts of the keys in a text by "...", down to pieces of five characters, see hide_pieces(): servers
/// echo requests in their answers, cut and escaped.  Call it with the whole text, before it is shortened.
void hide_keys(std::string& text, const access_keys& keys, detail::letter_case how = detail::letter_case::any);

}  // namespace smdebug::inline v1::s3

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/keys.ipp>
#endif
