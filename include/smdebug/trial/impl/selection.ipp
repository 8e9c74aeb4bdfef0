// The bodies of <smdebug/trial/selection.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/trial/selection.hpp>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE selected_tensors::selected_tensors(const tensor_selection& which, const detail::catalog& from)
    : range_(which.range), mode_(which.mode) {
    if (which.worker) {
        const auto held = std::find(from.workers.begin(), from.workers.end(), *which.worker);
        worker_ = static_cast<detail::worker_id>(held - from.workers.begin());
    }
    if (!which.names && !which.regex.given() && !which.collection) {
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
}

SMDEBUG_INLINE bool selected_tensors::contains(const detail::catalog::file& held) const noexcept {
    return range_.contains(held.step) && (mode_ == smdebug::mode::global || held.mode == mode_) &&
           (!worker_ || held.worker == *worker_);
}

SMDEBUG_INLINE void selected_tensors::keep(const detail::name_filter& accepted, const detail::catalog& from) {
    for (detail::name_id id = 0; id < wanted_->size(); ++id) {
        (*wanted_)[id] = (*wanted_)[id] && accepted.accepts((*from.names)[id]);
    }
}

}  // namespace v1
}  // namespace smdebug
