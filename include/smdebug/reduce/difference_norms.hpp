// How large the difference of two tensors is, and the first of them: norms, means, in one pass over both.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// Of two tensors a and b of reals that are equally large, as doubles.
struct difference_norms {
    double difference = 0;  ///< of b - a
    double first = 0;       ///< of a
};

/// Both L2 norms.  IEEE: NaN and infinities in either go through.
/// Cost: one pass over both; for doubles one or two more where squares leave their range.
[[nodiscard]] difference_norms l2_of_difference(const tensor_view& a, const tensor_view& b);

/// mean|b - a| and mean|a|; NaN of empty tensors.
[[nodiscard]] difference_norms mean_abs_of_difference(const tensor_view& a, const tensor_view& b);

/// mean(|b - a| / (|a| + epsilon)).
[[nodiscard]] double mean_relative_difference(const tensor_view& a, const tensor_view& b, double epsilon);

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/difference_norms.ipp>
#endif
