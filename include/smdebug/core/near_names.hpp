// Names that a user may have meant by one that there is not.
// Used by: trial, registry, cli.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// How many insertions, deletions and replacements make one text of the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
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

/// The names that a user may have meant by `wanted`, the likeliest first: those that hold it or that it holds, and
/// those that differ in a few letters; upper and lower case are the same.
[[nodiscard]] inline std::vector<std::string> near_matches(std::string_view wanted, std::span<const std::string> names,
                                                           std::size_t most = 5) {
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
        const bool holds =
            name.find(asked) != std::string::npos || (name.size() > 2 && asked.find(name) != std::string::npos);
        const std::size_t apart = edit_distance(asked, name);
        if (holds || apart <= std::max<std::size_t>(2, asked.size() / 3)) {
            ranked.emplace_back(apart, i);
        }
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string> found;
    for (std::size_t i = 0; i < ranked.size() && i < most; ++i) {
        found.push_back(names[ranked[i].second]);
    }
    return found;
}

/// " Did you mean a, b or c?" of those that were found near, or nothing.
[[nodiscard]] inline std::string did_you_mean(std::span<const std::string> near) {
    std::string text;
    for (std::size_t i = 0; i < near.size(); ++i) {
        text.append(i == 0 ? " Did you mean " : (i + 1 == near.size() ? " or " : ", ")).append(near[i]);
    }
    return text.empty() ? text : text + "?";
}

/// The same of the `most` names that are nearest.
[[nodiscard]] inline std::string did_you_mean(std::string_view wanted, std::span<const std::string> names,
                                              std::size_t most = 5) {
    return did_you_mean(near_matches(wanted, names, most));
}

}  // namespace v1
}  // namespace smdebug
