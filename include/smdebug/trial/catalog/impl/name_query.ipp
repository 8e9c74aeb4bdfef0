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

SMDEBUG_INLINE std::vector<std::string> query_names(const tensor_names_options& which,
                                                    function_ref<std::shared_ptr<const catalog>()> fresh) {
    if (which.regex.given() && which.collection) {
        throw value_error("tensor_names takes a regex or a collection, not both");
    }
    std::optional<name_filter> filter;
    if (which.regex.given()) {
        filter.emplace(which.regex.texts(), std::vector<std::string>{});
    }
    const auto from = fresh();
    if (which.collection) {
        const auto group = from->job->collections.find(which.collection->name());
        if (group == from->job->collections.end()) {
            return {};
        }
        filter.emplace(group->second.include_regex, group->second.tensor_names);
    }
    std::vector<std::string> names;
    if (which.step) {
        const auto global = from->global_step(which.mode, *which.step);
        const auto* found_step = global ? from->find_step(*global) : nullptr;
        if (found_step != nullptr) {
            names = from->tensor_names_at(*found_step);
        }
    } else {
        names = from->tensor_names(which.mode);
    }
    if (filter) {
        std::erase_if(names, [&](const std::string& name) { return !filter->accepts(name); });
    }
    return names;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
