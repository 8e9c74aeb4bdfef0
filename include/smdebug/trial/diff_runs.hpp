// Where two runs part: both walked side by side, step by step, worker by worker, tensor by tensor.
// One pass over the event files of both; of neither run more is in memory than the file at hand.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/allclose.hpp>
#include <smdebug/reduce/element_differences.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/concepts.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// In what two runs are not the same.
enum class run_difference_kind : std::uint8_t {
    collection,  ///< only one of them has it, or its members are others
    step,        ///< only one of them has it
    worker,      ///< only one of them has it, of a step that both have
    mode,        ///< of a step, or its step in the mode
    tensor,      ///< only one of them has it, or its values, or a reduction of it, of a step and worker that both have
    dtype,
    shape,
    reduction,   ///< a saved one has another value
    values,      ///< elements differ
    unreadable,  ///< what is there cannot be read, so that nobody knows whether it differs
};

/// "collection", "step", "worker", "mode", "tensor", "dtype", "shape", "reduction", "values" or "unreadable".
[[nodiscard]] std::string_view name_of(run_difference_kind kind) noexcept;

/// One difference.  Views and pointers are borrowed, for the call only.
struct run_difference {
    run_difference_kind kind = run_difference_kind::values;
    step_number step = -1;  ///< global; -1: of no step, as collections
    step_number mode_step = -1;
    /// Where `run` is 2 as the second run has it, else as the first has it.
    smdebug::mode mode = smdebug::mode::global;
    std::string_view worker = {};  ///< empty: of all workers
    std::string_view tensor = {};  ///< or the collection; empty: of all tensors
    unsigned run = 0;              ///< 1 or 2: the one that has it alone, or of which it cannot be read; 0: of both
    std::string what = {};         ///< a sentence without the above
    std::size_t elements = 0;      ///< of each tensor whose values, or a reduction of it, were compared
    std::size_t differing = 0;
    double largest = std::numeric_limits<double>::quiet_NaN();           ///< see element_comparison
    double largest_relative = std::numeric_limits<double>::quiet_NaN();  ///< the same
    std::optional<reduce::detail::differing_element> first = {};         ///< that differs, in C order
    std::optional<reduce::detail::differing_element> farthest = {};      ///< none of strings
    const shape_type* shape = nullptr;                                   ///< of values that differ
};

/// What became of a step that both runs have.
struct compared_step {
    step_number step = -1;  ///< global
    step_number mode_step = -1;
    smdebug::mode mode = smdebug::mode::global;
    std::size_t tensors = 0;           ///< of each worker, that were compared
    std::size_t differing = 0;         ///< of those, in whatever
    double largest = 0;                ///< |a - b| of their values and reductions
    double largest_relative = 0;       ///< |a - b| / |b|
    std::string farthest_tensor = {};  ///< that with `largest`; empty: there is none
};

/// What is compared, and how.
struct diff_options {
    /// A collection has the tensors that it has in either run; one run at least has to have it.
    tensor_selection which = {};
    /// With either: as numpy.allclose(first, second, rtol, atol, equal_nan=True), where what is left out is 0.  Without:
    /// exactly, bit by bit: NaN is like NaN of the same bits, and -0.0 is not 0.0.
    std::optional<double> rtol = {};
    std::optional<double> atol = {};
    /// Called behind each step that both runs have.
    std::function<void(const compared_step&)> step_done = {};
    /// Progress by event files, and when to stop; on one thread.
    walk_options how = {};
};

/// What a comparison comes to.
struct diff_summary {
    std::size_t steps = 0;        ///< that both have
    std::size_t tensors = 0;      ///< names that were compared
    std::size_t compared = 0;     ///< tensors of steps and workers
    std::uint64_t bytes = 0;      ///< of the values of either run that were compared
    std::size_t differences = 0;  ///< without what is unreadable
    std::size_t unreadable = 0;
    bool stopped = false;  ///< before the end: all of this is of the steps before

    [[nodiscard]] bool same() const noexcept { return differences == 0 && unreadable == 0 && !stopped; }
};

namespace detail {

/// Says what was found, and counts it.
class diff_log {
public:
    using diff_visit = function_ref<void(const run_difference&)>;
    using comparison = reduce::detail::element_comparison;

    /// Borrows both.  Errors: value_error for a tolerance.
    diff_log(const diff_options& options, diff_visit visit);

    /// Steps are numbers of their modes.  Before the first.
    void count_by_mode() noexcept { by_mode_ = true; }
    [[nodiscard]] bool by_mode() const noexcept { return by_mode_; }

    [[nodiscard]] const std::optional<reduce::detail::tolerance>& within() const noexcept { return within_; }

    // Where the walk is: views are borrowed until the next.  An empty worker or tensor is all of them.
    void begin_step(const catalog::file& file);
    void end_step();  // that both have
    void begin_worker(std::string_view worker, const catalog::file& first, const catalog::file& second);
    void begin_tensor(std::string_view tensor) noexcept;
    void end_tensor(bool was_compared, std::uint64_t bytes);  // of values

    void tell(run_difference_kind kind, unsigned run, std::string what);
    /// What a comparison has found, if anything.
    void tell(run_difference_kind kind, const comparison& found, std::string_view of, const shape_type* shape);
    void unreadable(unsigned run, const lookup_error& why);
    /// Of the collections that neither's selection leaves out.
    void compare_collections(const catalog::job_description& first, const catalog::job_description& second);

    diff_summary summary;

private:
    void tell(run_difference& found);

    const diff_options& options_;
    diff_visit visit_;
    std::optional<reduce::detail::tolerance> within_;
    compared_step step_;
    smdebug::mode second_mode_ = smdebug::mode::global;
    step_number second_mode_step_ = -1;
    std::string_view worker_;
    std::string_view tensor_;
    bool differs_ = false;
    bool by_mode_ = false;
};

/// "first" or "second".
[[nodiscard]] std::string_view name_of_run(unsigned run) noexcept;

[[nodiscard]] diff_summary diff_states(std::shared_ptr<const trial_state> first,
                                       std::shared_ptr<const trial_state> second, const diff_options& options,
                                       diff_log::diff_visit visit);

}  // namespace detail

/// Calls visit(const run_difference&) for all in which two runs are not the same, as they are now: first for
/// collections, then by global step and worker, as in the first run's files; what only the second has comes behind
/// those.  Steps are matched by global step, by mode and its step where those of either run are synthetic (so is
/// `options.which.range`); workers and tensors by name; places, times and the order of records in
/// files do not count.
///
///     const diff_summary all = diff_runs(mine, yours, {.rtol = 1e-5}, [](const run_difference& each) { ... });
///
/// Errors: collection_unavailable where neither has it; value_error for a bad regex, or a tolerance that is negative or
///         NaN; what `visit` throws.  What cannot be read is a difference: checksums are verified as scans do.
/// Memory: a piece of a file of each, its largest record below 1 MiB (or that cannot be read in pieces), some MiB of small
///         files; 32 MiB of each where the storage reads many objects together.
/// Cost:   one read of each event file of steps and workers that both have.
template <scannable_trial First, scannable_trial Second, std::invocable<const run_difference&> Visit>
diff_summary diff_runs(const First& first, const Second& second, const diff_options& options, Visit&& visit) {
    return detail::diff_states(first.state(), second.state(), options, visit);
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/diff_runs.ipp>
#endif
