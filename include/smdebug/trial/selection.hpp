// Which tensors of which files a walk over a run is about.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/catalog/name_query.hpp>
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
    std::optional<detail::collection_ref> collection = {};
    /// Global steps.
    step_range range = {};
    /// Steps of this mode; global: of all.
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
    /// The tables of the histograms among them, too, see is_histogram_table(); else those come by `names` alone.
    bool tables = false;
};

namespace detail {

/// A selection, looked up in one catalog.
class selected_tensors {
public:
    /// Errors: value_error for a bad regex, collection_unavailable.      Cost: one look at each name of the run.
    selected_tensors(const tensor_selection& which, const detail::catalog& from);

    /// By name_id; null: all of them.
    [[nodiscard]] const std::vector<bool>* names() const noexcept { return wanted_ ? &*wanted_ : nullptr; }
    [[nodiscard]] bool contains(detail::name_id name) const noexcept { return !wanted_ || (*wanted_)[name]; }
    /// Whether a file's step, mode and worker are selected.
    [[nodiscard]] bool contains(const detail::catalog::file& file) const noexcept;
    /// Whether no tensor's name is selected.
    [[nodiscard]] bool empty() const noexcept {
        return wanted_ && std::find(wanted_->begin(), wanted_->end(), true) == wanted_->end();
    }

private:
    // Tables are selected with their histograms, or not at all.
    void choose_tables(bool wanted, const detail::catalog& from);
    void keep(const detail::name_filter& accepted, const detail::catalog& from);

    step_range range_;
    smdebug::mode mode_;
    std::optional<detail::worker_id> worker_;
    std::optional<std::vector<bool>> wanted_;
};

}  // namespace detail

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/selection.ipp>
#endif
