// The bodies of <smdebug/trial/selection.hpp>.
#pragma once

#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE detail::selected_tensors::selected_tensors(const tensor_selection& which, const detail::catalog& from)
    : range_(which.range), mode_(which.mode) {
    if (which.worker) {
        const auto worker = std::find(from.workers.begin(), from.workers.end(), *which.worker);
        worker_ = static_cast<detail::worker_id>(worker - from.workers.begin());
    }
    if (!which.names && !which.regex.given() && !which.collection) {
        if (!which.tables) {
            choose_tables(false, from);
        }
        return;
    }
    wanted_.emplace(from.names->size(), false);
    for (const std::string& name : which.names ? *which.names : from.tensor_names(smdebug::mode::global)) {
        if (const auto id = from.names->find_tensor(name)) {
            (*wanted_)[*id] = true;
        }
    }
    if (which.regex.given()) {
        keep(detail::name_filter{which.regex.texts(), {}}, from);
    }
    if (which.collection) {
        const auto group = from.job->collections.find(which.collection->name());
        if (group == from.job->collections.end()) {
            throw detail::no_such_collection(which.collection->name(), from.job->collections);
        }
        keep(detail::name_filter{group->second.include_regex, group->second.tensor_names}, from);
    }
    if (!which.names || which.tables) {
        choose_tables(which.tables, from);
    }
}

SMDEBUG_INLINE void detail::selected_tensors::choose_tables(bool wanted, const detail::catalog& from) {
    const auto group = from.job->collections.find(histograms_collection);
    if (group == from.job->collections.end()) {
        return;
    }
    const std::set<std::string_view> histograms(group->second.tensor_names.begin(), group->second.tensor_names.end());
    for (detail::name_id id = 0; id < from.names->size(); ++id) {
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

SMDEBUG_INLINE bool detail::selected_tensors::contains(const detail::catalog::file& file) const noexcept {
    return range_.contains(file.step) && (mode_ == smdebug::mode::global || file.mode == mode_) &&
           (!worker_ || file.worker == *worker_);
}

SMDEBUG_INLINE void detail::selected_tensors::keep(const detail::name_filter& accepted, const detail::catalog& from) {
    for (detail::name_id id = 0; id < wanted_->size(); ++id) {
        (*wanted_)[id] = (*wanted_)[id] && accepted.accepts((*from.names)[id]);
    }
}

}  // namespace v1
}  // namespace smdebug
