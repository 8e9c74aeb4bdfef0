// What most built-in rules are made of: the choice of tensors and workers of a step, one such save (saved_tensor), the
// saves before it, and notes about what cannot be read.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/tensor_handle.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
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

/// Removes tables of histograms.
void leave_out_histogram_tables(const trial& run, step_number step, std::vector<std::string>& names);

}  // namespace detail

/// The selected tensors that were saved at a step, sorted and unique; without the media of logs, which have no values,
/// and without digests that neither a collection nor a regex names.  Collections and regexes select the union.
/// A collection that does not exist selects nothing.  Errors: value_error for a bad regex.
[[nodiscard]] std::vector<std::string> tensors_to_check(const trial& run, step_number step,
                                                        const detail::tensor_choice& which);

/// The workers to judge: the first that saved the tensor, or all of them.
[[nodiscard]] std::vector<std::string> workers_to_check(const tensor_handle& tensor, step_number step,
                                                        bool all_workers);

/// The note about a tensor that could not be judged; an empty finding if the dtype simply has no such reduction.
[[nodiscard]] finding note_about(const std::string& tensor, const std::string& worker, step_number step,
                                 const lookup_error& failure);

namespace detail {

/// For labels and predictions as the numbers of categories: what has fractions, such as probabilities, is none.
/// Errors: tensor_unavailable_for_step, at which a rule skips the step, if a number is finite and not whole; `hint`
/// ends its message.
void require_whole_numbers(const std::vector<double>& values, const std::string& tensor, step_number step,
                           std::string_view hint = {});

/// The last `n` steps of a mode up to and including `step` that have a tensor, ascending.
[[nodiscard]] inline std::vector<step_number> last_steps(const tensor_handle& tensor, step_number step, std::size_t n,
                                                         mode in = mode::global) {
    return tensor.prev_steps(step, {.n = static_cast<std::int64_t>(n), .mode = in});
}

/// Calls visit(step) for the steps of a mode up to and including `step` that have a tensor, the newest first, until
/// visit says false.  Cost: grows with the steps visited.
template <class Visit>
void visit_steps_back(const tensor_handle& tensor, step_number step, mode in, Visit&& visit) {
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
[[nodiscard]] bool has_steps_of(const trial& run, mode in);

/// The tensor of one worker at a global step, saved or not.  Borrows handle and texts, so that it costs nothing to make,
/// and cannot be kept beyond the call.
class saved_tensor {
public:
    saved_tensor(const tensor_handle& handle, const std::string& name, step_number step, const std::string& worker)
        : handle_(handle), name_(name), step_(step), worker_(worker) {}
    saved_tensor(const tensor_handle&, std::string&&, step_number, const std::string&) = delete;
    saved_tensor(const tensor_handle&, const std::string&, step_number, std::string&&) = delete;
    saved_tensor(const tensor_handle&, std::string&&, step_number, std::string&&) = delete;
    saved_tensor(const saved_tensor&) = delete;
    saved_tensor& operator=(const saved_tensor&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::string& worker() const noexcept { return worker_; }
    [[nodiscard]] step_number step() const noexcept { return step_; }
    /// The step in messages: "step 500", or "TRAIN step 10" where global steps are synthetic.
    [[nodiscard]] std::string step_words() const { return handle_.step_words(step_); }
    [[nodiscard]] const tensor_handle& handle() const noexcept { return handle_; }

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
        return handle_.find_measured(step_, measure, read_options{.worker = worker_});
    }
    /// The result of a comparison of an earlier save with this one, by any workers.
    template <tensor_comparison Measure>
    [[nodiscard]] lookup<compared_by<Measure>> compared(const saved_tensor& earlier, const Measure& comparison) const {
        if (earlier.worker() == worker_) {
            return handle_.find_compared(earlier.step(), step_, comparison, read_options{.worker = worker_});
        }
        const auto before = earlier.values();
        const auto now = before ? values() : before;
        return now ? lookup<compared_by<Measure>>{comparison(before->view(), now->view())}
                   : lookup<compared_by<Measure>>{now.error()};
    }

    /// A finding about this tensor: the condition is met.
    [[nodiscard]] finding met(double value, double threshold, std::string message) const;
    /// A finding or note that is about this tensor.
    [[nodiscard]] finding named(finding one) const {
        one.tensor = name_;
        one.worker = worker_;
        return one;
    }
    /// A note about this tensor: it could not be judged, for this reason.  An empty finding if the dtype has no such
    /// reduction.
    [[nodiscard]] finding note(const lookup_error& failure) const { return note_about(name_, worker_, step_, failure); }
    [[nodiscard]] finding note(std::string message) const { return named(finding::note(std::move(message))); }

private:
    const tensor_handle& handle_;
    const std::string& name_;
    step_number step_;
    const std::string& worker_;
};

/// A tensor that a rule judges, and the workers that saved it.
struct chosen_tensor {
    std::string name;
    tensor_handle handle;
    std::vector<std::string> workers;
};

/// Calls visit(name, handle, workers) for each selected tensor that was saved at a step, by name.  A selection that the
/// trial caches is not computed again for each rule and step.
template <class Visit>
void visit_chosen(const trial& run, step_number step, const tensor_choice& which, Visit&& visit) {
    const auto choose = [&] {
        std::vector<chosen_tensor> all;
        for (std::string& name : tensors_to_check(run, step, which)) {
            auto handle = run.tensor(name);
            auto workers = handle.workers(step, read_options{});
            all.push_back({std::move(name), std::move(handle), std::move(workers)});
        }
        return all;
    };
    const auto kept = smdebug::detail::trial_access::cached_for_step<std::vector<chosen_tensor>>(
        run, step, which.collection_names, which.tensor_regex, choose);
    if (kept == nullptr) {
        for (const std::string& name : tensors_to_check(run, step, which)) {
            const auto handle = run.tensor(name);
            visit(name, handle, handle.workers(step, read_options{}));
        }
        return;
    }
    for (const chosen_tensor& one : *kept) {
        smdebug::detail::trial_access::note_selected(one.handle);  // another rule took the handle
        visit(one.name, one.handle, one.workers);
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
template <class Judge>
[[nodiscard]] std::vector<finding> judge_each(const trial& run, step_number step, const tensor_choice& which,
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
[[nodiscard]] const std::string* worker_to_compare(const std::vector<std::string>& workers, const std::string& worker,
                                                   bool all_workers);

/// Calls visit(saved_tensor) for a tensor's saves before this one, the newest first, until visit returns false.
/// Worker: with all_workers the same one, else the first by name at each step.
template <class Visit>
void visit_earlier_saves(const saved_tensor& tensor, bool all_workers, Visit&& visit) {
    const auto look = [&](step_number step) {
        const std::vector<std::string> workers = tensor.handle().workers(step, read_options{});
        const std::string* const from = worker_to_compare(workers, tensor.worker(), all_workers);
        return from == nullptr || visit(saved_tensor{tensor.handle(), tensor.name(), step, *from});
    };
    visit_steps_back(tensor.handle(), tensor.step() - 1, mode::global, look);
}

inline lookup<reduction_values> saved_tensor::counts() const {
    return handle_.find_computed(step_, reduction_set::counts(), read_options{.worker = worker_});
}

inline lookup<tensor_value> saved_tensor::values() const {
    return handle_.find_value(step_, value_options{.worker = worker_});
}

inline lookup<shape_type> saved_tensor::shape() const {
    return handle_.find_shape(step_, read_options{.worker = worker_});
}

inline finding saved_tensor::met(double value, double threshold, std::string message) const {
    return named({.met = true, .value = value, .threshold = threshold, .message = std::move(message)});
}

/// A predicate: whether a tensor of a step is left out.
[[nodiscard]] inline auto left_out(const trial& run, step_number step, const text_list& exclude_regex) {
    return [names = exclude_regex.empty() ? std::vector<std::string>{}
                                          : run.tensor_names({.regex = exclude_regex, .step = step})](
               const saved_tensor& tensor) { return std::binary_search(names.begin(), names.end(), tensor.name()); };
}

/// Holds back findings until their condition was met at `patience` saves of a tensor and worker in a row, this one
/// included.  Only saves that it is given count, those of one step once; a note neither counts nor ends the row.
class lasting_findings {
public:
    [[nodiscard]] finding keep(const auto& save, std::int64_t patience, finding one) {
        if (patience <= 1) {
            return one;
        }
        row& of = rows_[{save.name(), save.worker()}];
        if (save.step() != of.last) {
            of = {save.step(), save.step() > of.last ? of.count : 0};
        }
        of.count = one.met ? of.before + 1 : (one.message.empty() ? 0 : of.before);
        if (one.met) {
            one.message += "; so in " + std::to_string(of.count) + " saves in a row";
        }
        return one.met && of.count < patience ? finding{} : one;
    }

private:
    struct row {
        step_number last = -1;
        std::int64_t before = 0;  // that step
        std::int64_t count = 0;
    };
    std::map<std::pair<std::string, std::string>, row> rows_;  // by tensor and worker
};

}  // namespace detail

}  // namespace smdebug::inline v1::rules
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/saved_tensor.ipp>
#endif
