// Which tensors of which files a walk over a run covers.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// A choice of names: those that match any of some regexes, or are in a list.
class name_filter {
public:
    /// Errors: value_error for a bad regex.
    name_filter(const std::vector<std::string>& patterns, std::vector<std::string> sorted_names);
    [[nodiscard]] bool accepts(const std::string& name) const;
    /// Whether a digest itself is meant: it is in the list, or a regex matches it and not its tensor's name.
    [[nodiscard]] bool names_digest(const std::string& digest) const;

private:
    std::vector<regex> patterns_;
    std::vector<std::string> names_;
};

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

}  // namespace detail

/// A part of a run: everything that matches all fields.  Unset fields match everything.
struct tensor_selection {
    /// Exactly these tensors; names that the run does not have are ignored.
    std::optional<std::vector<std::string>> names = {};
    /// Tensors whose names match any of these.
    text_list regex = {};
    std::optional<collection_ref> collection = {};
    /// Global steps.
    step_range range = {};
    /// Steps of this mode; global: of all modes.
    smdebug::mode mode = smdebug::mode::global;
    std::optional<std::string> worker = {};
    /// Includes tables of selected histograms, see is_histogram_table(); otherwise tables must be listed in `names`.
    bool tables = false;
    /// Includes digests of selected tensors, see is_digest(); otherwise they must be named: listed in `names` or in the
    /// collection, or matched by a regex that does not match their tensor, such as "^digest/".
    bool digests = false;
};

namespace detail {

/// A selection, looked up in one catalog.
class selected_tensors {
public:
    /// Errors: value_error for a bad regex, collection_unavailable.      Cost: one test of each name of the run.
    selected_tensors(const tensor_selection& which, const detail::catalog& from);

    /// By name_id; null for all of them.
    [[nodiscard]] const std::vector<bool>* names() const noexcept { return wanted_ ? &*wanted_ : nullptr; }
    [[nodiscard]] bool contains(detail::name_id name) const noexcept { return !wanted_ || (*wanted_)[name]; }
    /// Whether a file's step, mode and worker are selected.
    [[nodiscard]] bool contains(const detail::catalog::file& file) const noexcept;
    /// Whether no tensor's name is selected.
    [[nodiscard]] bool empty() const noexcept {
        return wanted_ && std::find(wanted_->begin(), wanted_->end(), true) == wanted_->end();
    }

private:
    // Selects tables together with their histograms, or not at all.
    void choose_tables(bool wanted, const detail::catalog& from);
    void leave_out_digests(const detail::catalog& from);
    // `digests`: includes those of the tensors that are kept.
    void keep(const detail::name_filter& accepted, const detail::catalog& from, bool digests);

    step_range range_;
    smdebug::mode mode_;
    std::optional<detail::worker_id> worker_;
    std::optional<std::vector<bool>> wanted_;
};

}  // namespace detail

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/selection.ipp>
#endif
