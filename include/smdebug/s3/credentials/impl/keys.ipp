// The bodies of <smdebug/s3/credentials/keys.hpp>.
#pragma once

#include <smdebug/s3/credentials/keys.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <system_error>

namespace smdebug::inline v1::s3 {
namespace detail {

SMDEBUG_INLINE written_text as_written(std::string_view text) {
    written_text read;
    read.reserve(text.size());
    for (const char c : text) {
        read.push_back({c, read.size(), read.size() + 1});
    }
    return read;
}

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
        unsigned value = 0;
        const char* const last = text.data() + std::min(end, text.size());
        const bool is_there = begin < end && end <= text.size();
        const auto [stop, failure] = std::from_chars(text.data() + (is_there ? begin : 0), last, value, base);
        const bool good = is_there && failure == std::errc{} && stop == last && value < 256;
        return good ? std::optional{static_cast<char>(value)} : std::nullopt;
    };
    const auto found = [](std::optional<char> is, std::size_t length) {
        return is ? std::optional{std::pair{*is, length}} : std::nullopt;
    };
    if (text.starts_with('%')) {
        return found(number(1, 3, 16), 3);
    }
    if (text.starts_with("\\u")) {
        return found(number(2, 6, 16), 6);
    }
    if (text.starts_with("\\x")) {
        return found(number(2, 4, 16), 4);
    }
    if (text.starts_with('\\') && text.size() > 1 &&
        std::string_view{"/\\\"'"}.find(text[1]) != std::string_view::npos) {
        return found(text[1], 2);
    }
    const std::size_t end = text.starts_with('&') ? text.find(';') : std::string_view::npos;
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    if (text.starts_with("&#x") || text.starts_with("&#X")) {
        return found(number(3, end, 16), end + 1);
    }
    if (text.starts_with("&#")) {
        return found(number(2, end, 10), end + 1);
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

}  // namespace smdebug::inline v1::s3
