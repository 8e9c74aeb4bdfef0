// The bodies of <smdebug/trial/catalog/name_query.hpp>.
#pragma once

#include <smdebug/trial/catalog/name_query.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE name_filter::name_filter(const std::vector<std::string>& patterns, std::vector<std::string> sorted_names)
    : names_(std::move(sorted_names)) {
    patterns_.reserve(patterns.size());
    for (const std::string& pattern : patterns) {
        patterns_.emplace_back(pattern);
    }
}

SMDEBUG_INLINE bool name_filter::accepts(const std::string& name) const {
    return std::binary_search(names_.begin(), names_.end(), name) ||
           std::any_of(patterns_.begin(), patterns_.end(), [&](const regex& pattern) { return pattern.search(name); });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
