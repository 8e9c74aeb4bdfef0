// Which tensors a built-in rule looks at, and what it does about those that cannot be read.
// Selected is the union of collections and regexes; what was not saved at a step is skipped there.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace rules {

namespace detail {

/// Which tensors a rule looks at: those of collections, and those whose names match; with neither, all.
struct tensor_choice {
    text_list collection_names = {};
    text_list tensor_regex = {};
};

}  // namespace detail

/// Descriptions of settings that most rules have.
inline constexpr std::string_view collection_names_meaning =
    "collections to look at; with tensor_regex: the union of both";
inline constexpr std::string_view tensor_regex_meaning = "regular expressions for names of tensors to look at";
inline constexpr std::string_view all_workers_meaning = "look at every worker, not only at the first by name";

namespace detail {

/// Takes out the tables of histograms, and images, audio and the like, of which a log gives names alone.
void leave_out_media(const readable_trial auto& run, step_number step, std::vector<std::string>& names) {
    const auto has_no_values = [&](const std::string& name) {
        const auto tensor = run.tensor(name);
        if constexpr (requires { tensor.has_only_shape(step, read_options{}); }) {
            return tensor.has_only_shape(step, read_options{});
        } else {
            return false;
        }
    };
    if (std::any_of(names.begin(), names.end(), is_histogram_table)) {
        const auto histograms = run.tensor_names({.collection = std::string{histograms_collection}, .step = step});
        std::erase_if(names, [&](const std::string& name) {
            return is_histogram_table(name) &&
                   std::binary_search(histograms.begin(), histograms.end(), histogram_of_table(name));
        });
    }
    for (const std::string& name : run.tensor_names({.collection = "media", .step = step})) {
        const auto found = std::lower_bound(names.begin(), names.end(), name);
        if (found != names.end() && *found == name && has_no_values(name)) {
            names.erase(found);
        }
    }
}

}  // namespace detail

/// The tensors of a choice that were saved at a step, sorted, each once; not the media of logs, which have no values.
/// A collection that does not exist selects nothing.  Errors: value_error for a bad regex.
[[nodiscard]] std::vector<std::string> tensors_to_check(const readable_trial auto& run, step_number step,
                                                        const detail::tensor_choice& which) {
    std::vector<std::string> names;
    if (which.collection_names.empty() && which.tensor_regex.empty()) {
        names = run.tensor_names({.step = step});
        detail::leave_out_media(run, step, names);
        return names;
    }
    const auto take = [&](std::vector<std::string> more) { names.insert(names.end(), more.begin(), more.end()); };
    for (const std::string& group : which.collection_names.texts()) {
        take(run.tensor_names({.collection = group, .step = step}));
    }
    if (!which.tensor_regex.empty()) {
        take(run.tensor_names({.regex = which.tensor_regex, .step = step}));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    detail::leave_out_media(run, step, names);
    return names;
}

/// The workers to look at: the first that saved the tensor, or all of them.
[[nodiscard]] std::vector<std::string> workers_to_check(const reducible_tensor auto& tensor, step_number step,
                                                        bool all_workers) {
    std::vector<std::string> workers = tensor.workers(step, read_options{});
    if (!all_workers && workers.size() > 1) {
        workers.resize(1);
    }
    return workers;
}

/// The note about a tensor that could not be judged; nothing to say where a dtype simply has no such reduction.
[[nodiscard]] finding note_about(const std::string& tensor, const std::string& worker, step_number step,
                                 const lookup_error& failure);

}  // namespace rules
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/selection.ipp>
#endif
