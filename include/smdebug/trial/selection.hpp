// Which tensors of which files a walk over a run is about.
// Used by: trial (scans), cli.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/catalog.hpp>
#include <smdebug/trial/name_query.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A part of a run: what all of these have in common.  Everything left out means: all.
struct tensor_selection {
    /// Exactly these tensors; names that the run does not have count for nothing.
    std::optional<std::vector<std::string>> names = {};
    /// Tensors whose names match any of these.
    text_list regex = {};
    std::optional<collection_ref> collection = {};
    /// Global steps.
    step_range range = {};
    /// Steps of this mode; global: of all.
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
};

/// A selection, looked up in one catalog.
class selected_tensors {
public:
    /// Errors: value_error for a bad regex, collection_unavailable.      Cost: one look at each name of the run.
    selected_tensors(const tensor_selection& which, const catalog& from) : range_(which.range), mode_(which.mode) {
        if (which.worker) {
            const auto held = std::find(from.workers.begin(), from.workers.end(), *which.worker);
            worker_ = static_cast<worker_id>(held - from.workers.begin());
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
            keep(name_filter{which.regex.texts(), {}}, from);
        }
        if (which.collection) {
            const auto group = from.job->collections.find(which.collection->name());
            if (group == from.job->collections.end()) {
                throw no_such_collection(which.collection->name(), from.job->collections);
            }
            keep(name_filter{group->second.include_regex, group->second.tensor_names}, from);
        }
    }

    /// By name_id; null: all of them.
    [[nodiscard]] const std::vector<bool>* names() const noexcept { return wanted_ ? &*wanted_ : nullptr; }
    [[nodiscard]] bool contains(name_id name) const noexcept { return !wanted_ || (*wanted_)[name]; }
    /// Whether a file's step, mode and worker are selected.
    [[nodiscard]] bool contains(const catalog::file& held) const noexcept {
        return range_.contains(held.step) && (mode_ == smdebug::mode::global || held.mode == mode_) &&
               (!worker_ || held.worker == *worker_);
    }
    /// Whether no tensor's name is selected.
    [[nodiscard]] bool empty() const noexcept {
        return wanted_ && std::find(wanted_->begin(), wanted_->end(), true) == wanted_->end();
    }

private:
    void keep(const name_filter& accepted, const catalog& from) {
        for (name_id id = 0; id < wanted_->size(); ++id) {
            (*wanted_)[id] = (*wanted_)[id] && accepted.accepts((*from.names)[id]);
        }
    }

    step_range range_;
    smdebug::mode mode_;
    std::optional<worker_id> worker_;
    std::optional<std::vector<bool>> wanted_;
};

}  // namespace v1
}  // namespace smdebug
