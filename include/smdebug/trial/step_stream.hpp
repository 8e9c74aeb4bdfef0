// Everything that was saved in a run, step by step, in order: each step whole, with the numbers that are wanted.
// Each event file is read once, front to back; the next steps are read and reduced, on as many threads as you say,
// while the caller looks at one.  Reading tensor by tensor costs a read each; a stream costs no more than reading the
// files.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace smdebug::inline v1 {

/// What a stream gives of each tensor, and how it reads.
struct step_question {
    tensor_selection tensors = {};
    /// Saved ones as they were saved, the others computed from the values.
    reduction_set reductions = reduction_set::all();
    /// Numbers of your own, from the values while they are in the CPU's cache.  Called on any thread, several at once.
    std::vector<std::function<double(const tensor_view&)>> measures = {};
    /// Values of at most so many bytes are kept beside the numbers: 64 is enough for losses, 4096 for most labels.
    /// Larger ones are read by trial.tensor(name).value(step, {.worker = ...}).
    std::size_t values_up_to = 0;
    walk_options how = {};
};

namespace detail {

/// Keeps the tensors of some files until they are handed out.  Its memory is reused.
class kept_tensors {
public:
    void keep(const scanned_tensor& tensor, const step_question& asked, const any_kernel& kernel);
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] const reduced_tensor& operator[](std::size_t place) const noexcept { return kept_[place]; }
    /// Some of them, with their pointers set; valid until the list changes.
    [[nodiscard]] std::span<const reduced_tensor> some(std::size_t begin, std::size_t end) noexcept;
    /// Adds some of another list, which keeps their empty places.
    void move_from(kept_tensors& other, std::size_t begin, std::size_t end);
    void clear() noexcept { size_ = 0; }

private:
    std::vector<reduced_tensor> kept_;
    std::size_t size_ = 0;
};

}  // namespace detail

/// Visits a run as it is now, in order:
///
///     smd::step_stream steps(run, {.tensors = {.collection = "gradients"}, .how = {.threads = 4}});
///     while (const auto* step = steps.next())
///         for (const auto& tensor : step->tensors)
///             if (tensor) use(tensor.name, tensor.reductions(smd::reduction::l2));  // else tensor.error() says why
///
/// A step of which nothing is selected is left out.  Numbers do not depend on the number of threads.  No file is held
/// while the caller looks at a step.
/// Errors: collection_unavailable, value_error for a bad regex; what a measure throws; std::system_error if no thread
///         can be started.  Unreadable data are passed on as a failure: a damaged tensor does not affect the others.
/// Memory: walk_options::memory for event files; some 450 bytes for each tensor of a step and of the parts that
///         threads are ahead (2 * threads + 2, of 4 MiB of event files each, or 32 where the storage reads many ranges
///         together).  With measures or values_up_to a tensor is in memory whole.  Independent of the run's size.
/// Cost:   one read of each event file (of the selected parts, where little is selected), and one pass over the values
///         while they are in the CPU's cache.  The next file is prefetched where the storage supports it.
/// Threads: one at a time.  Destroying it waits for what is being read.
class step_stream {
public:
    /// A step: the selected tensors of all workers, by worker, then as in the file.
    struct visited_step {
        step_number step = 0;  ///< global
        smdebug::mode mode = smdebug::mode::global;
        step_number mode_step = 0;
        std::span<const reduced_tensor> tensors = {};
    };

    explicit step_stream(const trial& run, step_question asked = {});
    step_stream(step_stream&&) noexcept;
    step_stream& operator=(step_stream&&) noexcept;
    ~step_stream();

    /// The next step; null after the last one, and after a stop.  Valid until the next call.
    /// Errors: see above; the earliest step's first.  Each further call throws it again.
    [[nodiscard]] const visited_step* next();

    /// Whether all was visited, once next() has returned null: false after a stop.
    [[nodiscard]] bool is_complete() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Calls visit(const reduced_tensor&) for every selected tensor of a step_stream, with at least those of the `wanted`
/// reductions that exist.  Returns whether all was visited: false after a stop.
///
///     for_each_tensor(run, {.collection = "gradients"}, reduction::l2, [&](const reduced_tensor& found) { ... });
///
/// Errors, memory, cost: as step_stream; what `visit` throws.
template <std::invocable<const reduced_tensor&> Visit>
bool for_each_tensor(const trial& run, const tensor_selection& which, reduction_set wanted, Visit&& visit,
                     const walk_options& how = {}) {
    step_stream steps{run, {.tensors = which, .reductions = wanted, .how = how}};
    while (const auto* const step = steps.next()) {
        for (const reduced_tensor& tensor : step->tensors) {
            visit(tensor);
        }
    }
    return steps.is_complete();
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/step_stream.ipp>
#endif
