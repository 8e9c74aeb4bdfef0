// The bodies of <smdebug/hook/known_collections.hpp>.
#pragma once

#include <smdebug/hook/known_collections.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace known_collections {

SMDEBUG_INLINE std::vector<std::string> regexes_of(std::string_view name) {
    const auto* const place = std::find_if(list.begin(), list.end(), [&](const known& k) { return k.name == name; });
    return place == list.end() || place->include_regex.empty() ? std::vector<std::string>{}
                                                               : std::vector{std::string{place->include_regex}};
}

SMDEBUG_INLINE std::vector<std::string> names() {
    std::vector<std::string> all{of_frameworks.begin(), of_frameworks.end()};
    for (const known& each : list) {
        all.emplace_back(each.name);
    }
    return all;
}

}  // namespace known_collections
}  // namespace detail
}  // namespace v1
}  // namespace smdebug
