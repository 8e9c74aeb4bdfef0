// The bodies of <smdebug/index/key_check.hpp>.
#pragma once

#include <smdebug/index/key_check.hpp>

#include <algorithm>
#include <vector>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE std::optional<std::string> renamed_keys(detail::json::value object,
                                                       std::span<const std::string_view> expected) {
    std::vector<std::string_view> seen;
    std::string strange;
    const bool is_object = object.for_each_field([&](std::string_view key, detail::json::value) {
        seen.push_back(key);
        if (std::find(expected.begin(), expected.end(), key) == expected.end()) {
            strange.append(strange.empty() ? "\"" : ", \"").append(key).append("\"");
        }
        return true;
    });
    std::string missing;
    for (const std::string_view key : expected) {
        if (std::find(seen.begin(), seen.end(), key) == seen.end()) {
            missing.append(missing.empty() ? "\"" : ", \"").append(key).append("\"");
        }
    }
    if (!is_object || strange.empty() || missing.empty()) {
        return std::nullopt;
    }
    return "unknown key " + strange + " where " + missing + " is missing";
}

SMDEBUG_INLINE std::optional<std::string> repeated_keys(detail::json::value object) {
    std::vector<std::string_view> seen;
    static_cast<void>(object.for_each_field([&](std::string_view key, detail::json::value) {
        seen.push_back(key);
        return true;
    }));
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    return twice != seen.end() ? std::optional{"the key \"" + std::string{*twice} + "\" stands twice"} : std::nullopt;
}

}  // namespace v1
}  // namespace smdebug
