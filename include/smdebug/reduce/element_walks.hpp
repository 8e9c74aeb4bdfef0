// What some rules ask of a tensor's elements that no reduction says: sums of channels, the largest of each row, how
// often a value is there.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The sum of each of `channels` channels, of which `inner` elements lie together, one channel after the other; nothing
/// where the elements are no reals.  `inner` times `channels` divides the tensor's size.
[[nodiscard]] std::optional<std::vector<double>> channel_sums(const tensor_value& tensor, std::size_t channels,
                                                              std::size_t inner);

/// The place of the largest element of each row along the last axis, NaN for a row with NaN; none of a tensor without
/// rows or reals.
[[nodiscard]] std::vector<double> row_argmax(const tensor_value& tensor);

/// How many elements are `value` as doubles; none of complex numbers and strings.
[[nodiscard]] std::size_t count_equal(const tensor_value& tensor, double value);

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/element_walks.ipp>
#endif
