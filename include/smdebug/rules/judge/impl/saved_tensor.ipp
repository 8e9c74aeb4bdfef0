// The bodies of <smdebug/rules/judge/saved_tensor.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <cmath>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules {

namespace detail {

/// Removes digests that the regexes do not name, see tensor_selection::digests.
inline void leave_out_digests(const trial& run, step_number step, std::vector<std::string>& names,
                              const text_list& regex) {
    if (std::any_of(names.begin(), names.end(), is_digest)) {
        const auto digests = run.tensor_names({.collection = std::string{digests_collection}, .step = step});
        const smdebug::detail::name_filter filter{regex.texts(), {}};
        std::erase_if(names, [&](const std::string& name) {
            return std::binary_search(digests.begin(), digests.end(), name) && !filter.names_digest(name);
        });
    }
}

SMDEBUG_INLINE void leave_out_histogram_tables(const trial& run, step_number step, std::vector<std::string>& names) {
    if (std::any_of(names.begin(), names.end(), is_histogram_table)) {
        const auto histograms = run.tensor_names({.collection = std::string{histograms_collection}, .step = step});
        std::erase_if(names, [&](const std::string& name) {
            return is_histogram_table(name) &&
                   std::binary_search(histograms.begin(), histograms.end(), histogram_of_table(name));
        });
    }
}

/// Removes tables of histograms, and media such as images and audio, which a log lists by name only.
inline void leave_out_media(const trial& run, step_number step, std::vector<std::string>& names) {
    const auto has_no_values = [&](const std::string& name) {
        return run.tensor(name).has_only_shape(step, read_options{});
    };
    leave_out_histogram_tables(run, step, names);
    for (const std::string& name : run.tensor_names({.collection = "media", .step = step})) {
        const auto found = std::lower_bound(names.begin(), names.end(), name);
        if (found != names.end() && *found == name && has_no_values(name)) {
            names.erase(found);
        }
    }
}

}  // namespace detail

SMDEBUG_INLINE std::vector<std::string> tensors_to_check(const trial& run, step_number step,
                                                         const detail::tensor_choice& which) {
    std::vector<std::string> names;
    if (which.collection_names.empty() && which.tensor_regex.empty()) {
        names = run.tensor_names({.step = step});
        detail::leave_out_digests(run, step, names, {});
        detail::leave_out_media(run, step, names);
        return names;
    }
    const auto take = [&](std::vector<std::string> more) { names.insert(names.end(), more.begin(), more.end()); };
    for (const std::string& group : which.collection_names.texts()) {
        take(run.tensor_names({.collection = group, .step = step}));
    }
    if (!which.tensor_regex.empty()) {
        std::vector<std::string> matched = run.tensor_names({.regex = which.tensor_regex, .step = step});
        detail::leave_out_digests(run, step, matched, which.tensor_regex);
        take(std::move(matched));
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    detail::leave_out_media(run, step, names);
    return names;
}

SMDEBUG_INLINE std::vector<std::string> workers_to_check(const tensor_handle& tensor, step_number step,
                                                         bool all_workers) {
    std::vector<std::string> workers = tensor.workers(step, read_options{});
    if (!all_workers && workers.size() > 1) {
        workers.resize(1);
    }
    return workers;
}

SMDEBUG_INLINE finding note_about(const std::string& tensor, const std::string& worker, step_number step,
                                  const lookup_error& failure) {
    finding note{.tensor = tensor, .worker = worker};
    if (failure.why == lookup_failure_kind::wrong_dtype) {
        return note;
    }
    note.damaged = is_lost(failure);
    note.message = smdebug::detail::what_of(failure, tensor, step, mode::global);
    return note;
}

namespace detail {

SMDEBUG_INLINE void require_whole_numbers(const std::vector<double>& values, const std::string& tensor,
                                          step_number step, std::string_view hint) {
    for (const double value : values) {
        if (is_finite(value) && value != std::trunc(value)) {
            throw tensor_unavailable_for_step(
                tensor, step, mode::global, false,
                "as the number of a category, as " + short_text(value) + " is not whole." + std::string{hint});
        }
    }
}

SMDEBUG_INLINE bool has_steps_of(const trial& run, mode in) {
    const std::vector<mode> modes = run.modes();
    return std::find(modes.begin(), modes.end(), in) != modes.end();
}

SMDEBUG_INLINE const std::string* worker_to_compare(const std::vector<std::string>& workers, const std::string& worker,
                                                    bool all_workers) {
    const auto found = all_workers ? std::find(workers.begin(), workers.end(), worker) : workers.begin();
    return found == workers.end() ? nullptr : &*found;
}

}  // namespace detail

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
