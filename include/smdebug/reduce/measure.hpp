// What may be computed of a tensor beyond the reductions, and remembered: a count under a condition, a hash, how far it
// is from an earlier save.  Where rules share a trial it is computed in the pass that reduces the tensor.
#pragma once

#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

namespace smdebug {
inline namespace v1 {

/// The most bytes that an answer of a measure may have.
inline constexpr std::size_t largest_measured = 64;

/// An answer that is remembered by its bytes: numbers, or a small struct of numbers.
template <class T>
concept measured_value =
    std::is_trivially_copyable_v<T> && std::default_initializable<T> && sizeof(T) <= largest_measured;

/// measure(tensor_view) gives an answer, which depends on the tensor's dtype, shape and elements alone.  Equal measures
/// of one type give equal answers: by `==` an answer is found again.
/// It is called on any thread, while an event file may be looked at in place: it must not block, nor write to the run.
/// The elements lie at any alignment: see for_each_real_block.
template <class M>
concept tensor_measure =
    std::copyable<M> && std::equality_comparable<M> && std::invocable<const M&, const tensor_view&> &&
    measured_value<std::invoke_result_t<const M&, const tensor_view&>>;

/// comparison(earlier, now) gives an answer about two saves of one tensor.  Otherwise as a tensor_measure.
template <class M>
concept tensor_comparison = std::copyable<M> && std::equality_comparable<M> &&
                            std::invocable<const M&, const tensor_view&, const tensor_view&> &&
                            measured_value<std::invoke_result_t<const M&, const tensor_view&, const tensor_view&>>;

/// What a measure answers.
template <tensor_measure M>
using measured_by = std::invoke_result_t<const M&, const tensor_view&>;

/// What a comparison answers.
template <tensor_comparison M>
using compared_by = std::invoke_result_t<const M&, const tensor_view&, const tensor_view&>;

}  // namespace v1
}  // namespace smdebug
