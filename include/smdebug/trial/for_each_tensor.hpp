// Every tensor of a run, reduced, in file order: the way to look at all of a run at the speed of its storage.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/reduced_tensor.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Reduced tensors kept until their turn comes.
class kept_tensors {
public:
    void keep(const scanned_tensor& tensor, reduction_set wanted, const any_kernel& kernel);

    /// One whose turn is now; to the next call.  It does not leave the CPU's first cache: a file's tensors together
    /// would.
    [[nodiscard]] const reduced_tensor& passing(const scanned_tensor& tensor, reduction_set wanted,
                                                const any_kernel& kernel) {
        reduce_into(tensor, wanted, kernel, passing_);
        return passing_;
    }

    /// Hands them out in the order in which they came, and is empty then.
    template <class Visit>
    void hand_out(Visit&& visit) {
        for (std::size_t i = 0; i < size_; ++i) {
            one& kept = kept_[i];
            kept.tensor.shape = kept.tensor.shape != nullptr ? &kept.shape : nullptr;
            kept.tensor.saved_failures = kept.saved_failures;
            visit(std::as_const(kept.tensor));
        }
        size_ = 0;
    }

private:
    // Names are those of the catalog, which outlives the walk; the rest is copied, into memory that is used again.
    struct one {
        reduced_tensor tensor;
        shape_type shape;
        std::vector<scan_failure> saved_failures;
    };
    std::vector<one> kept_;
    std::size_t size_ = 0;
    reduced_tensor passing_;
};

}  // namespace detail

/// Calls visit(const reduced_tensor&) for every selected tensor of a trial as it is now, with at least those of
/// `wanted` that there are: by global step, then worker, then as in the file.  Always on the calling thread, whatever
/// the number of threads that read and reduce.  The trial's kernel computes; its answers do not depend on the threads.
/// On one thread a tensor is mostly visited before the next one is read.
///
///     for_each_tensor(run, {.collection = "gradients"}, reduction::l2, [&](const reduced_tensor& found) { ... });
///
/// Errors: collection_unavailable, value_error for a bad regex, what `visit` throws.  What cannot be read is handed
///         over as a failure: a damaged tensor costs nothing but itself.
/// Memory: as scan_parts; independent of the run's size.
/// Cost:   as scan_parts, and one pass over the values while they lie in cache.
template <scannable_trial Trial, std::invocable<const reduced_tensor&> Visit>
detail::walk_end for_each_tensor(const Trial& run, const tensor_selection& which, reduction_set wanted, Visit&& visit,
                                 const walk_options& how = {}) {
    const auto state = run.state();
    const detail::any_kernel& kernel = state->kernel();
    // Whatever `visit` does, no file is held meanwhile: where one would be, what is visited is a copy.
    const scan_options options{.which = which,
                               .saved = wanted,
                               .how = how,
                               .defer_checks = true,
                               .keep_repeats = state->kernel().abilities().repeats,
                               .in_place = true,
                               .stream = true};
    return scan_parts(
        run, options, detail::kept_tensors{},
        [&](detail::kept_tensors& kept, const detail::scanned_tensor& tensor) {
            if (tensor.at_once) {
                visit(kept.passing(tensor, wanted, kernel));
            } else {
                kept.keep(tensor, wanted, kernel);
            }
        },
        [&](detail::kept_tensors& kept) { kept.hand_out(visit); });
}

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/for_each_tensor.ipp>
#endif
