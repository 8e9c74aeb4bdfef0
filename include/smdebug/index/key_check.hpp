// Keys of JSON objects that were renamed: an unknown one beside an expected one that is missing.
// Unknown keys alone are allowed, and so are missing ones that are optional; the two together are what damage looks
// like.
// Used by: trial/verify.hpp.
#pragma once

#include <smdebug/core/json_document.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A sentence on keys of `object` that are not in `known` while some of `known` are missing; nothing where all is well,
/// or where the value is no object.
[[nodiscard]] inline std::optional<std::string> renamed_keys(json::value object,
                                                             std::span<const std::string_view> known) {
    std::vector<std::string_view> seen;
    std::string strange;
    const bool is_object = object.for_each_field([&](std::string_view key, json::value) {
        seen.push_back(key);
        if (std::find(known.begin(), known.end(), key) == known.end()) {
            strange.append(strange.empty() ? "\"" : ", \"").append(key).append("\"");
        }
        return true;
    });
    std::string missing;
    for (const std::string_view key : known) {
        if (std::find(seen.begin(), seen.end(), key) == seen.end()) {
            missing.append(missing.empty() ? "\"" : ", \"").append(key).append("\"");
        }
    }
    if (!is_object || strange.empty() || missing.empty()) {
        return std::nullopt;
    }
    return "unknown key " + strange + " where " + missing + " is missing";
}

/// The same with two fields of one name, of which the last counts: no writer makes such.
[[nodiscard]] inline std::optional<std::string> repeated_keys(json::value object) {
    std::vector<std::string_view> seen;
    static_cast<void>(object.for_each_field([&](std::string_view key, json::value) {
        seen.push_back(key);
        return true;
    }));
    std::sort(seen.begin(), seen.end());
    const auto twice = std::adjacent_find(seen.begin(), seen.end());
    return twice != seen.end() ? std::optional{"the key \"" + std::string{*twice} + "\" stands twice"} : std::nullopt;
}

}  // namespace v1
}  // namespace smdebug
