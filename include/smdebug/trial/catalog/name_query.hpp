// Answering tensor_names(...): by step, mode, regex and collection, on a catalog.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/near_names.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/options.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A choice of names: those that match any of some regexes, or stand in a list.
class name_filter {
public:
    /// Errors: value_error for a bad regex.
    name_filter(const std::vector<std::string>& patterns, std::vector<std::string> sorted_names);
    [[nodiscard]] bool accepts(const std::string& name) const;

private:
    std::vector<regex> patterns_;
    std::vector<std::string> names_;
};

/// The error for a collection that a run does not have, with those that may have been meant, or else all.
template <class Collections>
[[nodiscard]] collection_unavailable no_such_collection(std::string_view wanted, const Collections& collections) {
    std::vector<std::string> names;
    std::string all;
    for (const auto& [name, group] : collections) {
        names.push_back(name);
        all.append(all.empty() ? " There are: " : ", ").append(name);
    }
    const std::string near = did_you_mean(wanted, names, 3);
    return collection_unavailable(std::string{wanted}, near.empty() ? all : near);
}

/// tensor_names(which) on the catalog that `fresh()` gives.  Errors: value_error, before `fresh` is called.
template <class Fresh>
[[nodiscard]] std::vector<std::string> query_names(const tensor_names_options& which, Fresh&& fresh) {
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

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/name_query.ipp>
#endif
