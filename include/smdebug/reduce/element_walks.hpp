// Walks over a tensor's elements for built-in rules and for learning, which need more than the reductions: sums of
// channels and of experts' loads, the largest of each row, how often a value occurs, subnormal numbers, entropies of
// rows, the hash of the content.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/reduce/tensor_hash.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

/// The sum of each of `channels` channels; `inner` consecutive elements belong to one channel, then the next channel
/// follows.  Nothing for non-real elements.  `inner` times `channels` divides the tensor's size.
[[nodiscard]] std::optional<std::vector<double>> channel_sums(const tensor_view& tensor, std::size_t channels,
                                                              std::size_t inner);

/// The load of the experts of a mixture, and what was odd about the elements.
struct expert_sums {
    std::vector<double> sum = {};
    bool finite = true;
    std::optional<double> wrong = {};  ///< the first element that no load, or no expert's number, can have
};

/// The sums over all axes but the last one, which has the experts.  For reals with that axis.
[[nodiscard]] expert_sums sums_by_last_axis(const tensor_view& tensor);

/// How often each expert's number occurs; negative numbers are dropped tokens.  For reals.
[[nodiscard]] expert_sums counts_of_numbers(const tensor_view& tensor, std::size_t experts);

/// The index of the largest element of each row along the last axis, NaN for a row with NaN; empty for a tensor without
/// rows or of non-real elements.
[[nodiscard]] std::vector<double> row_argmax(const tensor_value& tensor);

/// The number of elements equal to `value` as doubles; 0 for complex numbers and strings.
[[nodiscard]] std::size_t count_equal(const tensor_view& tensor, double value);

/// Defines active values: above < x, and x < below if that is set.  NaN is not active.
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

/// The number of nodes with less than `needed` active samples; some number below `enough` if there are fewer than that.
/// `values` are reals, samples times nodes; neither is 0, and samples fit into 32 bits.
/// Cost: at most one pass over the values; it ends as soon as enough nodes have turned out active.  Unaligned elements
///       are copied, a block of samples at a time.
[[nodiscard]] std::size_t inactive_nodes(const tensor_view& values, layer_size layer, const active_range& range,
                                         std::size_t needed, std::size_t enough);

/// Elements by size, for gradients in half precision.
struct small_counts {
    dtype type = dtype::invalid;
    std::uint64_t elements = 0;    ///< 0 for text and complex numbers
    std::uint64_t zeros = 0;       ///< of either sign; of other dtypes than the next line's only those at the beginning
    std::uint64_t subnormals = 0;  ///< only counted for float16, bfloat16 and the two float8
};

/// Cost: one pass, which ends in wider dtypes at the first element that is not zero.
[[nodiscard]] small_counts count_small(const tensor_view& tensor);

/// The least normal number of float16, bfloat16 and the two float8; 0 for other dtypes.
[[nodiscard]] double least_normal(dtype type) noexcept;

/// How rows of probabilities are judged: each row is one last axis.
struct entropy_options {
    double tolerance = 0.01;                     ///< of a row's sum
    std::optional<std::int64_t> head_axis = {};  ///< rows are grouped by their index on it; one group if unset
    /// Row i of q, on the last axis but one, has i + 1 + k - q of k positions.
    bool causal = false;
    /// Mean entropies that are all at least this need not be known exactly.  Logarithms are most of the time, and a
    /// lower bound needs one a row: few tensors are near a threshold.
    std::optional<double> enough = {};
    [[nodiscard]] friend bool operator==(const entropy_options&, const entropy_options&) = default;
};

/// The mean entropies of groups of rows, from 0 (all on one position) to 1 (on all alike).
struct row_entropies {
    enum class outcome : std::uint8_t {
        found,
        no_rows,         ///< all were skipped
        no_axes,         ///< it has none
        no_head_axis,    ///< head_axis is the last axis or beyond
        no_causal_axis,  ///< causal, and it has one axis
        not_real,        ///< text, complex numbers, or no elements
        not_a_row,       ///< `rows_of_least` is the number of a row that is not one of probabilities, `least` its sum
    };
    double least = 0;     ///< with `enough`: a lower bound where that is at least `enough`
    double greatest = 0;  ///< likewise
    std::uint64_t rows_of_least = 0;
    std::uint64_t rows_of_greatest = 0;
    std::uint32_t least_group = 0;  ///< of several equal ones the first
    std::uint32_t greatest_group = 0;
    outcome what = outcome::found;
};

/// Skips rows with fewer than two positions, with an element that is not finite, and of zeros alone.  Ends at the first
/// row that has an element below -tolerance, or whose sum is not 1 within the tolerance.  Cost: one pass, and a
/// logarithm for each element that is not 0; with `enough` mostly a pass without logarithms.
[[nodiscard]] row_entropies entropies_of_rows(const tensor_view& tensor, const entropy_options& how);

/// The hash of a tensor, see tensor_hash_by(): in the compiled form by the CPU's vectors.
[[nodiscard]] tensor_hash tensor_hash_of(const tensor_view& tensor) noexcept;

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/element_walks.ipp>
#endif
