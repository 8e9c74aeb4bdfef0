// The bodies of <smdebug/trial/selection.hpp>.
#pragma once

#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1 {
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

SMDEBUG_INLINE bool name_filter::names_digest(const std::string& digest) const {
    const std::string tensor{tensor_of_digest(digest)};
    return std::binary_search(names_.begin(), names_.end(), digest) ||
           std::any_of(patterns_.begin(), patterns_.end(),
                       [&](const regex& pattern) { return pattern.search(digest) && !pattern.search(tensor); });
}

}  // namespace detail
}  // namespace smdebug::inline v1
