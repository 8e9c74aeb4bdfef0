// How many nodes of a layer are (almost) never active: one fast pass over the samples of its outputs or inputs.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// What an active value is: above < x, and x < below where that is given.  NaN is not active.
struct active_range {
    double above = 0;
    std::optional<double> below = {};
    [[nodiscard]] friend bool operator==(const active_range&, const active_range&) = default;
};

/// A tensor as samples of nodes.
struct layer_size {
    std::size_t samples = 0;
    std::size_t nodes = 0;
};

/// How many of the nodes have less than `needed` active samples; any number below `enough` where there are fewer than
/// that.  `values` are reals, samples times nodes; neither is 0, and samples fit into 32 bits.
/// Cost: one pass over the values at most; it ends as soon as enough nodes are seen to be active.  What is not aligned
///       is copied, a block of samples at a time.
[[nodiscard]] std::size_t inactive_nodes(const tensor_view& values, layer_size layer, const active_range& range,
                                         std::size_t needed, std::size_t enough);

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/active_nodes.ipp>
#endif
