// Finds where two runs differ: walks both side by side, step by step, worker by worker, tensor by tensor.
// One pass over the event files of both; of each run at most the current file is in memory.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/element_differences.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <smdebug/core/strict_math/begin.ipp>
#include <smdebug/trial/trial_access.hpp>
namespace smdebug::inline v1 {

/// In which respect two runs differ.
enum class run_difference_kind : std::uint8_t {
    collection,  ///< only one run has it, or the members differ
    step,        ///< only one run has it
    worker,      ///< only one run has it, at a step that both have
    mode,        ///< a step's mode, or its step in that mode
    tensor,      ///< only one run has it, or its values, or a reduction of it, at a step and worker that both have
    dtype,
    shape,
    reduction,   ///< a saved reduction has another value
    values,      ///< elements differ
    unreadable,  ///< it cannot be read, so whether it differs is unknown
    digest,      ///< the saved digest of a run's tensor is not that of its saved values
};

/// "collection", "step", "worker", "mode", "tensor", "dtype", "shape", "reduction", "values", "unreadable" or "digest".
[[nodiscard]] std::string_view name_of(run_difference_kind kind) noexcept;

/// One difference.  Views and pointers are valid during the call only.
struct run_difference {
    run_difference_kind kind = run_difference_kind::values;
    step_number step = -1;  ///< global; -1: belongs to no step, as collections
    step_number mode_step = -1;
    /// As in the second run where `run` is 2, else as in the first.
    smdebug::mode mode = smdebug::mode::global;
    std::string_view worker = {};  ///< empty for all workers
    std::string_view tensor = {};  ///< or the collection; empty for all tensors
    /// 1 or 2: the only run that has it, that cannot be read, or whose digest contradicts its values; 0 for both
    unsigned run = 0;
    std::string what = {};     ///< a sentence without the fields above
    std::size_t elements = 0;  ///< of each tensor whose values, or a reduction, were compared
    std::size_t differing = 0;
    double largest = std::numeric_limits<double>::quiet_NaN();           ///< see element_comparison
    double largest_relative = std::numeric_limits<double>::quiet_NaN();  ///< the same
    std::optional<differing_element> first = {};                         ///< the first element that differs, in C order
    std::optional<differing_element> farthest = {};  ///< the element that differs most; not of texts
    const shape_type* shape = nullptr;               ///< the tensor's shape, where values differ
};

/// The result for one step that both runs have.
struct compared_step {
    step_number step = -1;  ///< global
    step_number mode_step = -1;
    smdebug::mode mode = smdebug::mode::global;
    std::size_t tensors = 0;           ///< compared, over all workers
    std::size_t differing = 0;         ///< how many of those differ in any respect
    double largest = 0;                ///< |a - b| over their values and reductions
    double largest_relative = 0;       ///< |a - b| / |b|
    std::string farthest_tensor = {};  ///< the tensor with `largest`; may be empty
};

/// What is compared, and how.
struct diff_options {
    /// A collection has the tensors that it has in either run; at least one run must have it.
    tensor_selection which = {};
    /// With either set: as numpy.allclose(first, second, rtol, atol, equal_nan=True), where an unset one is 0.  With
    /// neither the comparison is exact, bit by bit: NaN equals NaN of the same bits, and -0.0 differs from 0.0.
    std::optional<double> rtol = {};
    std::optional<double> atol = {};
    /// Called after each step that both runs have.
    std::function<void(const compared_step&)> step_done = {};
    /// Progress in event files, and when to stop; on one thread.
    walk_options how = {};
};

/// The totals of a comparison.
struct diff_summary {
    std::size_t steps = 0;        ///< that both runs have
    std::size_t tensors = 0;      ///< names that were compared
    std::size_t compared = 0;     ///< tensors, counted at each step and worker
    std::size_t by_digest = 0;    ///< how many of those by digests, as a run has no values of them
    std::uint64_t bytes = 0;      ///< total size of compared values, in either run
    std::size_t differences = 0;  ///< not counting what is unreadable
    std::size_t unreadable = 0;
    bool stopped = false;  ///< the walk stopped early: all totals cover the steps before that

    [[nodiscard]] bool same() const noexcept { return differences == 0 && unreadable == 0 && !stopped; }
};

namespace detail {

/// "first" or "second".
[[nodiscard]] std::string_view name_of_run(unsigned run) noexcept;

[[nodiscard]] diff_summary diff_states(std::shared_ptr<const trial_state> first,
                                       std::shared_ptr<const trial_state> second, const diff_options& options,
                                       function_ref<void(const run_difference&)> visit);

}  // namespace detail

/// Calls visit(const run_difference&) for everything in which two runs differ, as they are now: first for collections,
/// then by global step and worker, as in the first run's files; what only the second run has comes last.  Steps are
/// matched by global step; by mode and mode step where either run's steps are synthetic (this also holds for
/// `options.which.range`).  Workers and tensors are matched by name.  Places, times and the order of records in files
/// are ignored.
/// Where a run has no values of a tensor, but its digest (hook_options::digests), digests are compared; that of a run
/// with values is computed from these.  Digests that differ are a difference of `values` without elements, whatever the
/// tolerance.  A saved digest that is not that of the values beside it is a difference of its own, of that run; where
/// only one run has the tensor its digest is not looked at.
///
///     const diff_summary all = diff_runs(mine, yours, {.rtol = 1e-5}, [](const run_difference& each) { ... });
///
/// Errors: collection_unavailable where neither has it; value_error for a bad regex, or a tolerance that is negative or
///         NaN; what `visit` throws.  Unreadable data are reported as differences: checksums are verified as in scans.
/// Memory: for each run a piece of a file, its largest record below 1 MiB (or that cannot be read in pieces), some MiB
///         of small files; 32 MiB of each where the storage reads many objects together.
/// Cost:   one read of each event file of steps and workers that both have.
template <std::invocable<const run_difference&> Visit>
diff_summary diff_runs(const trial& first, const trial& second, const diff_options& options, Visit&& visit) {
    return detail::diff_states(detail::state_of(first), detail::state_of(second), options, visit);
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/diff_runs.ipp>
#endif
