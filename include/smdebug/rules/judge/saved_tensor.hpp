// One tensor at one step as one worker saved it: the unit that most rules judge.
// Selects the tensors that a built-in rule judges, and makes notes about unreadable ones.
// The selection is the union of collections and regexes; tensors that were not saved at a step are skipped there.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/selection.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
#include <smdebug/trial/trial_access.hpp>
namespace smdebug::inline v1::rules {

namespace detail {

[[nodiscard]] constexpr double percent_of(std::uint64_t part, std::uint64_t whole) noexcept {
    return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The tensors that a rule judges: those of collections, and those whose names match; with neither, all.
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
/// Descriptions of settings that keep a scan quiet on healthy trainings.
inline constexpr std::string_view patience_meaning = "at how many saves in a row it must be so";
inline constexpr std::string_view above_largest_meaning =
    "... and so many times as far above the median as the largest of these";
inline constexpr std::string_view exclude_regex_meaning = "regular expressions for names of tensors to leave out";

namespace detail {

/// Removes digests that the regexes do not name, see tensor_selection::digests.
void leave_out_digests(const readable_trial auto& run, step_number step, std::vector<std::string>& names,
                       const text_list& regex) {
    if (std::any_of(names.begin(), names.end(), is_digest)) {
        const auto digests = run.tensor_names({.collection = std::string{digests_collection}, .step = step});
        const smdebug::detail::name_filter filter{regex.texts(), {}};
        std::erase_if(names, [&](const std::string& name) {
            return std::binary_search(digests.begin(), digests.end(), name) && !filter.names_digest(name);
        });
    }
}

/// Removes tables of histograms.
void leave_out_histogram_tables(const readable_trial auto& run, step_number step, std::vector<std::string>& names) {
    if (std::any_of(names.begin(), names.end(), is_histogram_table)) {
        const auto histograms = run.tensor_names({.collection = std::string{histograms_collection}, .step = step});
        std::erase_if(names, [&](const std::string& name) {
            return is_histogram_table(name) &&
                   std::binary_search(histograms.begin(), histograms.end(), histogram_of_table(name));
        });
    }
}

/// Removes tables of histograms, and media such as images and audio, which a log lists by name only.
void leave_out_media(const readable_trial auto& run, step_number step, std::vector<std::string>& names) {
    const auto has_no_values = [&](const std::string& name) {
        const auto tensor = run.tensor(name);
        if constexpr (requires { tensor.has_only_shape(step, read_options{}); }) {
            return tensor.has_only_shape(step, read_options{});
        } else {
            return false;
        }
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

/// The selected tensors that were saved at a step, sorted and unique; without the media of logs, which have no values,
/// and without digests that neither a collection nor a regex names.
/// A collection that does not exist selects nothing.  Errors: value_error for a bad regex.
[[nodiscard]] std::vector<std::string> tensors_to_check(const readable_trial auto& run, step_number step,
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

/// The workers to judge: the first that saved the tensor, or all of them.
[[nodiscard]] std::vector<std::string> workers_to_check(const reducible_tensor auto& tensor, step_number step,
                                                        bool all_workers) {
    std::vector<std::string> workers = tensor.workers(step, read_options{});
    if (!all_workers && workers.size() > 1) {
        workers.resize(1);
    }
    return workers;
}

/// The note about a tensor that could not be judged; an empty finding if the dtype simply has no such reduction.
[[nodiscard]] inline finding note_about(const std::string& tensor, const std::string& worker, step_number step,
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

/// A handle that can count values, not only reduce them.
template <class AnyHandle>
concept countable_tensor =
    requires(const AnyHandle& tensor, step_number step, reduction_set wanted, const read_options& where) {
        { tensor.find_computed(step, wanted, where) } -> std::same_as<lookup<reduction_values>>;
    };

/// A handle that returns the values themselves.
template <class AnyHandle>
concept valued_tensor = requires(const AnyHandle& tensor, step_number step, const value_options& how) {
    { tensor.find_value(step, how) } -> std::same_as<lookup<tensor_value>>;
};

/// A handle that may cache the results of measures.
template <class AnyHandle>
concept remembering_tensor = valued_tensor<AnyHandle> && smdebug::detail::shareable_tensor<AnyHandle>;

/// A handle that knows shapes.
template <class AnyHandle>
concept shaped_tensor = requires(const AnyHandle& tensor, step_number step, const read_options& where) {
    { tensor.find_shape(step, where) } -> std::same_as<lookup<shape_type>>;
};

/// The last `n` steps of a mode up to and including `step` that have a tensor, ascending.
template <reducible_tensor AnyHandle>
[[nodiscard]] std::vector<step_number> last_steps(const AnyHandle& tensor, step_number step, std::size_t n,
                                                  mode in = mode::global) {
    if constexpr (requires(const prev_steps_options& which) {
                      { tensor.prev_steps(step, which) } -> std::same_as<std::vector<step_number>>;
                  }) {
        return tensor.prev_steps(step, {.n = static_cast<std::int64_t>(n), .mode = in});
    } else {
        std::vector<step_number> steps = tensor.steps(steps_options{.mode = in});
        steps.erase(std::upper_bound(steps.begin(), steps.end(), step), steps.end());
        steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(std::min(n, steps.size())));
        return steps;
    }
}

/// Calls visit(step) for the steps of a mode up to and including `step` that have a tensor, the newest first, until
/// visit says false.  Cost: grows with the steps visited.
template <reducible_tensor AnyHandle, class Visit>
void visit_steps_back(const AnyHandle& tensor, step_number step, mode in, Visit&& visit) {
    for (std::size_t n = 4;; n *= 4) {
        const std::vector<step_number> saved = last_steps(tensor, step, n, in);
        for (auto newest = saved.rbegin(); newest != saved.rend(); ++newest) {
            if (!visit(*newest)) {
                return;
            }
        }
        if (saved.size() < n) {
            return;
        }
        step = saved.front() - 1;
    }
}

/// Whether a run has steps of a mode.
[[nodiscard]] bool has_steps_of(const readable_trial auto& run, mode in) {
    if constexpr (requires {
                      { run.modes() } -> std::same_as<std::vector<mode>>;
                  }) {
        const std::vector<mode> modes = run.modes();
        return std::find(modes.begin(), modes.end(), in) != modes.end();
    } else {
        return !run.steps(steps_options{.mode = in}).empty();
    }
}

/// The tensor of one worker at a global step.  Borrows handle and texts, so that it costs nothing to make, and cannot be
/// kept beyond the call.
/// A query that the trial cannot answer gives the same result as a tensor that was not saved
/// (lookup_failure_kind::tensor_not_saved).
template <reducible_tensor Handle>
class saved_tensor {
public:
    saved_tensor(const Handle& handle, const std::string& name, step_number step, const std::string& worker)
        : handle_(handle), name_(name), step_(step), worker_(worker) {}
    saved_tensor(const Handle&, std::string&&, step_number, const std::string&) = delete;
    saved_tensor(const Handle&, const std::string&, step_number, std::string&&) = delete;
    saved_tensor(const Handle&, std::string&&, step_number, std::string&&) = delete;
    saved_tensor(const saved_tensor&) = delete;
    saved_tensor& operator=(const saved_tensor&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& worker() const noexcept { return worker_; }
    [[nodiscard]] step_number step() const noexcept { return step_; }
    /// The step in messages: "step 500", or "TRAIN step 10" where global steps are synthetic.
    [[nodiscard]] std::string step_words() const {
        if constexpr (requires {
                          { handle_.step_words(step_) } -> std::same_as<std::string>;
                      }) {
            return handle_.step_words(step_);
        } else {
            return "step " + std::to_string(step_);
        }
    }
    [[nodiscard]] const Handle& handle() const noexcept { return handle_; }

    /// The save of this tensor and worker at another global step.
    [[nodiscard]] saved_tensor at(step_number step) const { return {handle_, name_, step, worker_}; }

    /// A saved reduction if there is one, else a computed one.
    [[nodiscard]] lookup<double> reduction_value(reduction what, bool abs = false) const {
        return handle_.find_reduction(step_, what, reduction_options{.worker = worker_, .abs = abs});
    }
    /// Whether its values have an order: not those of complex numbers, which can be counted, and have an abs_max.
    [[nodiscard]] bool is_ordered() const {
        const auto largest = reduction_value(reduction::max);
        return largest || largest.error().why != lookup_failure_kind::wrong_dtype;
    }
    /// The number of values, and how many are NaN, infinite, zero.
    [[nodiscard]] lookup<reduction_values> counts() const;
    [[nodiscard]] lookup<tensor_value> values() const;
    [[nodiscard]] lookup<shape_type> shape() const;

    /// The result of a measure over the values.
    template <tensor_measure Measure>
    [[nodiscard]] lookup<measured_by<Measure>> measured(const Measure& measure) const {
        if constexpr (requires { handle_.find_measured(step_, measure, read_options{}); }) {
            return handle_.find_measured(step_, measure, read_options{.worker = worker_});
        } else {
            const auto read = values();
            return read ? lookup<measured_by<Measure>>{measure(read->view())}
                        : lookup<measured_by<Measure>>{read.error()};
        }
    }
    /// The result of a comparison of an earlier save with this one, by any workers.
    template <tensor_comparison Measure>
    [[nodiscard]] lookup<compared_by<Measure>> compared(const saved_tensor& earlier, const Measure& comparison) const {
        if constexpr (requires { handle_.find_compared(step_, step_, comparison, read_options{}); }) {
            if (earlier.worker() == worker_) {
                return handle_.find_compared(earlier.step(), step_, comparison, read_options{.worker = worker_});
            }
        }
        const auto before = earlier.values();
        const auto now = before ? values() : before;
        return now ? lookup<compared_by<Measure>>{comparison(before->view(), now->view())}
                   : lookup<compared_by<Measure>>{now.error()};
    }

    /// A finding about this tensor: the condition is met.
    [[nodiscard]] finding met(double value, double threshold, std::string message) const;
    /// A note about this tensor: it could not be judged, for this reason.  An empty finding if the dtype has no such
    /// reduction.
    [[nodiscard]] finding note(const lookup_error& failure) const { return note_about(name_, worker_, step_, failure); }
    [[nodiscard]] finding note(std::string message) const {
        return {.tensor = name_, .worker = worker_, .message = std::move(message)};
    }

private:
    const Handle& handle_;
    const std::string& name_;
    step_number step_;
    const std::string& worker_;
};

/// A tensor that a rule judges, and the workers that saved it.
template <class Handle>
struct chosen_tensor {
    std::string name;
    Handle handle;
    std::vector<std::string> workers;
};

/// Calls visit(name, handle, workers) for each selected tensor that was saved at a step, by name.  A selection that the
/// trial caches is not computed again for each rule and step.
template <readable_trial Trial, class Visit>
void visit_chosen(const Trial& run, step_number step, const tensor_choice& which, Visit&& visit) {
    using chosen = chosen_tensor<std::remove_cvref_t<decltype(run.tensor(std::string_view{}))>>;
    if constexpr (smdebug::detail::shareable_trial<Trial>) {
        const auto kept = smdebug::detail::trial_access::cached_for_step<std::vector<chosen>>(
            run, step, which.collection_names, which.tensor_regex, [&] {
                std::vector<chosen> all;
                for (std::string& name : tensors_to_check(run, step, which)) {
                    auto handle = run.tensor(name);
                    auto workers = handle.workers(step, read_options{});
                    all.push_back({std::move(name), std::move(handle), std::move(workers)});
                }
                return all;
            });
        if (kept != nullptr) {
            for (const chosen& one : *kept) {
                smdebug::detail::trial_access::note_selected(one.handle);  // another rule took the handle
                visit(one.name, one.handle, one.workers);
            }
            return;
        }
    }
    for (const std::string& name : tensors_to_check(run, step, which)) {
        const auto handle = run.tensor(name);
        visit(name, handle, handle.workers(step, read_options{}));
    }
}

/// Adds a finding or a note; not one that says nothing.
inline void add_if_said(std::vector<finding>& to, finding one) {
    if (one.met || !one.message.empty()) {
        to.push_back(std::move(one));
    }
}

/// Calls judge(saved_tensor) for each selected tensor that was saved at a step, by name, then worker: for all of them,
/// or for the first whose save counts, and returns the findings.  judge returns a finding, or as std::optional<finding>
/// nothing if the save does not count.  Errors: value_error for a bad regex, what `judge` throws.
template <readable_trial Trial, class Judge>
[[nodiscard]] std::vector<finding> judge_each(const Trial& run, step_number step, const tensor_choice& which,
                                              bool all_workers, Judge&& judge) {
    std::vector<finding> findings;
    visit_chosen(run, step, which,
                 [&](const std::string& name, const auto& handle, const std::vector<std::string>& workers) {
                     for (const std::string& worker : workers) {
                         if (std::optional<finding> one = judge(saved_tensor{handle, name, step, worker})) {
                             add_if_said(findings, *std::move(one));
                             if (!all_workers) {
                                 break;
                             }
                         }
                     }
                 });
    return findings;
}

/// The worker whose save is compared with one of `worker`: with all_workers the same one, else the first by name; null
/// if there is none.
[[nodiscard]] inline const std::string* worker_to_compare(const std::vector<std::string>& workers,
                                                          const std::string& worker, bool all_workers) {
    const auto found = all_workers ? std::find(workers.begin(), workers.end(), worker) : workers.begin();
    return found == workers.end() ? nullptr : &*found;
}

/// Calls visit(saved_tensor) for a tensor's saves before this one, the newest first, until visit returns false.
/// Worker: with all_workers the same one, else the first by name at each step.
template <class Handle, class Visit>
void visit_earlier_saves(const saved_tensor<Handle>& tensor, bool all_workers, Visit&& visit) {
    const auto look = [&](step_number step) {
        const std::vector<std::string> workers = tensor.handle().workers(step, read_options{});
        const std::string* const from = worker_to_compare(workers, tensor.worker(), all_workers);
        return from == nullptr || visit(saved_tensor<Handle>{tensor.handle(), tensor.name(), step, *from});
    };
    visit_steps_back(tensor.handle(), tensor.step() - 1, mode::global, look);
}

template <reducible_tensor Handle>
lookup<reduction_values> saved_tensor<Handle>::counts() const {
    if constexpr (countable_tensor<Handle>) {
        return handle_.find_computed(step_, reduction_set::counts(), read_options{.worker = worker_});
    } else {
        return lookup_failure_kind::tensor_not_saved;
    }
}

template <reducible_tensor Handle>
lookup<tensor_value> saved_tensor<Handle>::values() const {
    if constexpr (valued_tensor<Handle>) {
        return handle_.find_value(step_, value_options{.worker = worker_});
    } else {
        return lookup_failure_kind::tensor_not_saved;
    }
}

template <reducible_tensor Handle>
lookup<shape_type> saved_tensor<Handle>::shape() const {
    if constexpr (shaped_tensor<Handle>) {
        return handle_.find_shape(step_, read_options{.worker = worker_});
    } else {
        return lookup_failure_kind::shape_not_saved;
    }
}

template <reducible_tensor Handle>
finding saved_tensor<Handle>::met(double value, double threshold, std::string message) const {
    return {.met = true,
            .tensor = name_,
            .worker = worker_,
            .value = value,
            .threshold = threshold,
            .message = std::move(message)};
}

/// A predicate: whether a tensor of a step is left out.
[[nodiscard]] auto left_out(const readable_trial auto& run, step_number step, const text_list& exclude_regex) {
    return [names = exclude_regex.empty() ? std::vector<std::string>{}
                                          : run.tensor_names({.regex = exclude_regex, .step = step})](
               const auto& tensor) { return std::binary_search(names.begin(), names.end(), tensor.name()); };
}

}  // namespace detail

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>
