// The bodies of <smdebug/trial/read/selected_tensors.hpp>.
#pragma once

#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::detail {

/// Errors: value_error for a bad regex, and for a regex and a collection together.
[[nodiscard]] inline std::optional<name_filter> regex_filter(const tensor_names_options& which) {
    if (which.regex.given() && which.collection) {
        throw value_error("tensor_names takes a regex or a collection, not both");
    }
    return which.regex.given()
               ? std::optional<name_filter>{std::in_place, which.regex.texts(), std::vector<std::string>{}}
               : std::nullopt;
}

/// Adds the filter of a collection, if one is named; false if the catalog lacks it.
[[nodiscard]] inline bool add_collection(const tensor_names_options& which, const catalog& from,
                                         std::optional<name_filter>& filter) {
    if (!which.collection) {
        return true;
    }
    const auto group = from.job->collections.find(which.collection->name());
    if (group == from.job->collections.end()) {
        return false;
    }
    filter.emplace(group->second.include_regex, group->second.tensor_names);
    return true;
}

SMDEBUG_INLINE std::vector<std::string> names_among(std::vector<std::string> names, const tensor_names_options& which,
                                                    const catalog& from) {
    std::optional<name_filter> filter = regex_filter(which);
    if (!add_collection(which, from, filter)) {
        return {};
    }
    if (filter) {
        std::erase_if(names, [&](const std::string& name) { return !filter->accepts(name); });
    }
    return names;
}

SMDEBUG_INLINE std::vector<std::string> query_names(const tensor_names_options& which,
                                                    function_ref<std::shared_ptr<const catalog>()> fresh) {
    std::optional<name_filter> filter = regex_filter(which);
    const auto from = fresh();
    if (!add_collection(which, *from, filter)) {
        return {};
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
    if (which.collection && from->has_digests()) {  // a regex for weights means the weights, not their digests
        std::erase_if(names, [&](const std::string& name) { return is_digest(name) && !filter->names_digest(name); });
    }
    return names;
}

SMDEBUG_INLINE selected_tensors::selected_tensors(const tensor_selection& which, const catalog& from)
    : range_(which.range), mode_(which.mode) {
    if (which.worker) {
        const auto worker = std::find(from.workers.begin(), from.workers.end(), *which.worker);
        worker_ = static_cast<worker_id>(worker - from.workers.begin());
    }
    if (!which.names && !which.regex.given() && !which.collection) {
        if (!which.tables) {
            choose_tables(false, from);
        }
        if (!which.digests) {
            leave_out_digests(from);
        }
        return;
    }
    wanted_.emplace(from.names->size(), false);
    for (const std::string& name : which.names ? *which.names : from.tensor_names(smdebug::mode::global)) {
        if (const auto id = from.names->find_tensor(name)) {
            (*wanted_)[*id] = true;
        }
        if (const auto id = which.digests ? from.find_digest_of(name) : std::nullopt) {
            (*wanted_)[*id] = true;
        }
    }
    const bool asks_for_them = which.collection && which.collection->name() == digests_collection;
    const bool digests = which.names || which.digests || asks_for_them;
    if (which.regex.given()) {
        keep(name_filter{which.regex.texts(), {}}, from, digests);
    }
    if (which.collection) {
        const auto group = from.job->collections.find(which.collection->name());
        if (group == from.job->collections.end()) {
            throw no_such_collection(which.collection->name(), from.job->collections);
        }
        keep(name_filter{group->second.include_regex, group->second.tensor_names}, from, digests);
    }
    if (!which.names || which.tables) {
        choose_tables(which.tables, from);
    }
}

SMDEBUG_INLINE void selected_tensors::leave_out_digests(const catalog& from) {
    if (!from.has_digests()) {
        return;
    }
    if (!wanted_) {
        wanted_.emplace(from.names->size(), true);
    }
    for (name_id id = 0; id < wanted_->size(); ++id) {
        (*wanted_)[id] = (*wanted_)[id] && !is_digest((*from.names)[id]);
    }
}

SMDEBUG_INLINE void selected_tensors::choose_tables(bool wanted, const catalog& from) {
    const auto group = from.job->collections.find(histograms_collection);
    if (group == from.job->collections.end()) {
        return;
    }
    const std::set<std::string_view> histograms(group->second.tensor_names.begin(), group->second.tensor_names.end());
    for (name_id id = 0; id < from.names->size(); ++id) {
        const std::string_view name = (*from.names)[id];
        if (!is_histogram_table(name) || !histograms.contains(histogram_of_table(name))) {
            continue;
        }
        if (!wanted_) {
            wanted_.emplace(from.names->size(), true);
        }
        const auto histogram = from.names->find_tensor(histogram_of_table(name));
        (*wanted_)[id] = wanted && ((*wanted_)[id] || (histogram && (*wanted_)[*histogram]));
    }
}

SMDEBUG_INLINE bool selected_tensors::contains(const catalog::file& file) const noexcept {
    return range_.contains(file.step) && (mode_ == smdebug::mode::global || file.mode == mode_) &&
           (!worker_ || file.worker == *worker_);
}

SMDEBUG_INLINE void selected_tensors::keep(const name_filter& accepted, const catalog& from, bool digests) {
    const bool has_digests = from.has_digests();
    for (name_id id = 0; id < wanted_->size(); ++id) {
        const std::string& name = (*from.names)[id];
        const bool is_one = has_digests && is_digest(name);
        const bool is_of_accepted = is_one && digests && accepted.accepts(std::string{tensor_of_digest(name)});
        const bool is_meant = is_one && !digests ? accepted.names_digest(name) : accepted.accepts(name);
        (*wanted_)[id] = (*wanted_)[id] && (is_of_accepted || is_meant);
    }
}

}  // namespace smdebug::inline v1::detail
