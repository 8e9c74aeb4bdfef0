// The bodies of <smdebug/core/printable_text.hpp>.
#pragma once

#include <smdebug/core/printable_text.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace smdebug::inline v1 {

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

SMDEBUG_INLINE std::size_t edit_distance(std::string_view a, std::string_view b) {
    const auto begins = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
    a.remove_prefix(static_cast<std::size_t>(begins));
    b.remove_prefix(static_cast<std::size_t>(begins));
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
        a.remove_suffix(1);
        b.remove_suffix(1);
    }
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
        }
    }
    return row.back();
}

SMDEBUG_INLINE std::string detail::in_small_letters(std::string_view text) {
    std::string made{text};
    for (char& letter : made) {
        letter = in_small_letters(letter);
    }
    return made;
}

SMDEBUG_INLINE std::vector<std::string> near_matches(std::string_view wanted, std::span<const std::string> names,
                                                     std::size_t most) {
    const std::string asked = detail::in_small_letters(wanted);
    std::vector<std::pair<std::size_t, std::size_t>> ranked;  // distance, place
    for (std::size_t i = 0; i < names.size() && !asked.empty(); ++i) {
        const std::string name = detail::in_small_letters(names[i]);
        const std::size_t most_apart = std::max<std::size_t>(2, asked.size() / 3);
        const bool holds =
            name.find(asked) != std::string::npos || (name.size() > 2 && asked.find(name) != std::string::npos);
        const std::size_t longer = std::max(asked.size(), name.size()) - std::min(asked.size(), name.size());
        if (!holds && longer > most_apart) {
            continue;
        }
        const std::size_t apart = edit_distance(asked, name);
        if (holds || apart <= most_apart) {
            ranked.emplace_back(apart, i);
        }
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string> nearest;
    for (std::size_t i = 0; i < ranked.size() && i < most; ++i) {
        nearest.push_back(names[ranked[i].second]);
    }
    return nearest;
}

SMDEBUG_INLINE std::string did_you_mean(std::span<const std::string> near) {
    std::string text;
    for (std::size_t i = 0; i < near.size(); ++i) {
        text.append(i == 0 ? " Did you mean " : (i + 1 == near.size() ? " or " : ", ")).append(near[i]);
    }
    return text.empty() ? text : text + "?";
}

SMDEBUG_INLINE std::string near_or_all(std::string_view wanted, std::span<const std::string> names) {
    constexpr std::size_t most = 20;
    if (std::string near = did_you_mean(wanted, names, 3); !near.empty()) {
        return near;
    }
    std::string all;
    for (const std::string& name : names.first(std::min(names.size(), most))) {
        all.append(all.empty() ? " There are: " : ", ").append(name);
    }
    return names.size() > most ? all + ", ..." : all;
}

}  // namespace smdebug::inline v1

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE void append_csv_field(std::string& out, std::string_view field) {
    if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += field;
        return;
    }
    out += '"';
    for (const char c : field) {
        out.append(c == '"' ? 2 : 1, c);
    }
    out += '"';
}

}  // namespace detail
}  // namespace smdebug::inline v1

namespace smdebug::inline v1 {

SMDEBUG_INLINE std::string did_you_mean(std::string_view wanted, std::span<const std::string> names, std::size_t most) {
    return did_you_mean(near_matches(wanted, names, most));
}

}  // namespace smdebug::inline v1
