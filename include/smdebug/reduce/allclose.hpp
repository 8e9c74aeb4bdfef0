// How close two tensors of one shape are: NumPy's allclose, and norms of their difference.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/reduce/subnormals.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

/// The number of elements compared together: both blocks of doubles fit into L1.
inline constexpr std::size_t pair_block = 512;

/// Elements of a real tensor as doubles: in place if they are aligned doubles, else converted into `room`.
[[nodiscard]] std::span<const double> widened(const tensor_view& tensor, std::size_t begin, std::size_t count,
                                              std::array<double, pair_block>& room);

/// Calls visit(begin, a's doubles, b's doubles) for blocks of two real tensors of the same size, until it returns
/// false.  64-bit integers are rounded to doubles.
template <class Visit>
void for_each_pair_block(const tensor_view& a, const tensor_view& b, Visit&& visit) {
    const subnormals_kept here;
    std::array<double, pair_block> room_a;
    std::array<double, pair_block> room_b;
    const std::size_t size = a.count();
    for (std::size_t begin = 0; begin < size; begin += pair_block) {
        const std::size_t count = std::min(pair_block, size - begin);
        if (!visit(begin, widened(a, begin, count, room_a), widened(b, begin, count, room_b))) {
            return;
        }
    }
}

/// The allowed distance from a reference: atol + rtol * |reference|.  Equal infinities are close; NaN is close to NaN
/// only with equal_nan.
struct tolerance {
    double rtol = 1e-5;
    double atol = 1e-8;
    bool equal_nan = false;

    [[nodiscard]] double allowed(double reference) const noexcept { return atol + rtol * std::abs(reference); }

    [[nodiscard]] bool close(double value, double reference) const noexcept;
};

/// Whether all are close and finite: tolerance::close with one comparison, which infinities and NaN fail.
[[nodiscard]] bool surely_close(std::span<const double> values, std::span<const double> references, double rtol,
                                double atol) noexcept;

/// The first element that is not close; nothing if all are.  Both tensors are real and have the same size.
/// Cost: one pass, which ends at the block with the first difference.
[[nodiscard]] std::optional<std::size_t> first_difference(const tensor_view& values, const tensor_view& references,
                                                          const tolerance& within);

/// NumPy's allclose for two tensors of reals; tensors of different shapes are not close.
[[nodiscard]] inline bool allclose(const tensor_view& values, const tensor_view& references,
                                   const tolerance& within = {}) {
    return std::ranges::equal(values.shape, references.shape) && !first_difference(values, references, within);
}

/// For two real tensors a and b of the same size, as doubles.
struct difference_norms {
    double difference = 0;  ///< norm of b - a
    double first = 0;       ///< norm of a
};

/// Both L2 norms.  IEEE: NaN and infinities in either propagate.
/// Cost: one pass over both; for doubles one or two more if squares leave their range.
[[nodiscard]] difference_norms l2_of_difference(const tensor_view& a, const tensor_view& b);

/// mean|b - a| and mean|a|; NaN for empty tensors.
[[nodiscard]] difference_norms mean_abs_of_difference(const tensor_view& a, const tensor_view& b);

/// mean(|b - a| / (|a| + epsilon)).
[[nodiscard]] double mean_relative_difference(const tensor_view& a, const tensor_view& b, double epsilon);

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/reduce/impl/allclose.ipp>
#endif
