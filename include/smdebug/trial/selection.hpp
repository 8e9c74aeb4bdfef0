// Which tensors of which files a walk over a run covers.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/index/regex.hpp>
#include <smdebug/trial/options.hpp>

#include <optional>
#include <string>
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

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/selection.ipp>
#endif
