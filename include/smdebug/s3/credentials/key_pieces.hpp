// Finding what a text holds of a secret: whole, in pieces, escaped in the ways of URLs, HTML and JSON, or spread out.
// Pure.
#pragma once

#include <smdebug/core/form.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// Whether 'a' may stand for 'A': as in hosts' names.
enum class letter_case : std::uint8_t { any, as_it_is };

/// So many characters in a row are a piece of a secret; fewer are in any text.
inline constexpr std::size_t least_piece = 5;

/// A character that a text says, and where it is written there.
struct written_character {
    char is = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
};
using written_text = std::vector<written_character>;

[[nodiscard]] written_text as_written(std::string_view text);

/// The character that an escape at that place stands for, and the length of the escape; nothing where there is none.
[[nodiscard]] std::optional<std::pair<char, std::size_t>> escape_at(const written_text& read, std::size_t at);

/// The same with each escape as what it stands for; false when there is none.
[[nodiscard]] bool unescape(written_text& read);

/// A character as it is compared; nothing where it does not count: with `words_only`, letters and digits alone do,
/// since others may have been put between them.
[[nodiscard]] constexpr std::optional<char> compared(char c, letter_case how, bool words_only) noexcept {
    const bool is_capital = c >= 'A' && c <= 'Z';
    const bool counts = !words_only || is_capital || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const char seen = how == letter_case::any && is_capital ? static_cast<char>(c - 'A' + 'a') : c;
    return counts ? std::optional{seen} : std::nullopt;
}

/// Calls visit(piece, first, last) for each piece: its characters as a number, and which ones of `text` they are.
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

/// Puts "..." in the place of whatever a text holds of the secrets: of any five characters in a row that one of them
/// has, also where they are escaped (up to three times), or where other characters than letters and digits stand
/// between them.  Cost: for messages; some tens of microseconds for one of 300 characters.
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
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/credentials/impl/key_pieces.ipp>
#endif
