// The bodies of <smdebug/core/near_names.hpp>.
#pragma once

#include <smdebug/core/near_names.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace smdebug {
inline namespace v1 {

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

SMDEBUG_INLINE std::vector<std::string> near_matches(std::string_view wanted, std::span<const std::string> names,
                                                     std::size_t most) {
    const auto lower = [](std::string_view text) {
        std::string out{text};
        std::transform(out.begin(), out.end(), out.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
        return out;
    };
    const std::string asked = lower(wanted);
    std::vector<std::pair<std::size_t, std::size_t>> ranked;  // how far, place
    for (std::size_t i = 0; i < names.size() && !asked.empty(); ++i) {
        const std::string name = lower(names[i]);
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

}  // namespace v1
}  // namespace smdebug
