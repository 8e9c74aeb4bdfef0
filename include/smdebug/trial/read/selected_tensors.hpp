// Which tensors and files of a catalog a selection, or a query for names, means.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail {

/// The error for a collection that a run does not have; lists similar names, or else all.
template <class Collections>
[[nodiscard]] not_found no_such_collection(std::string_view wanted, const Collections& collections) {
    std::vector<std::string> names;
    for (const auto& [name, group] : collections) {
        names.push_back(name);
    }
    return {error_code::collection_unavailable,
            "Collection " + std::string{wanted} + " was not saved." + near_or_all(wanted, names)};
}

/// tensor_names(which) on the catalog that `fresh()` gives.  Errors: value_error, before `fresh` is called.
[[nodiscard]] std::vector<std::string> query_names(const tensor_names_options& which,
                                                   function_ref<std::shared_ptr<const catalog>()> fresh);

/// Those of some names that the regex or the collection of `which` selects; a collection that the catalog lacks selects
/// none.  Errors: value_error.
[[nodiscard]] std::vector<std::string> names_among(std::vector<std::string> names, const tensor_names_options& which,
                                                   const catalog& from);

/// A selection, looked up in one catalog.
class selected_tensors {
public:
    /// Errors: value_error for a bad regex, collection_unavailable.  Cost: one test of each name of the run.
    selected_tensors(const tensor_selection& which, const catalog& from);

    /// By name_id; null for all of them.
    [[nodiscard]] const std::vector<bool>* names() const noexcept { return wanted_ ? &*wanted_ : nullptr; }
    [[nodiscard]] bool contains(name_id name) const noexcept { return !wanted_ || (*wanted_)[name]; }
    /// Whether a file's step, mode and worker are selected.
    [[nodiscard]] bool contains(const catalog::file& file) const noexcept;
    /// Whether no tensor's name is selected.
    [[nodiscard]] bool empty() const noexcept {
        return wanted_ && std::find(wanted_->begin(), wanted_->end(), true) == wanted_->end();
    }

private:
    // Selects tables together with their histograms, or not at all.
    void choose_tables(bool wanted, const catalog& from);
    void leave_out_digests(const catalog& from);
    // `digests`: includes those of the tensors that are kept.
    void keep(const name_filter& accepted, const catalog& from, bool digests);

    step_range range_;
    smdebug::mode mode_;
    std::optional<worker_id> worker_;
    std::optional<std::vector<bool>> wanted_;
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/selected_tensors.ipp>
#endif
