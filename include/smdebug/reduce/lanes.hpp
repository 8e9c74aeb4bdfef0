// The order of accumulation: blocks, rows, virtual lanes, merge trees.  Part of the definition of every reduction.
// Floating-point sums depend on their order; with the order fixed here, every kernel gives the same bits.
#pragma once

#include <smdebug/reduce/wide_sum.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

// The definition.
//
// Elements are widened exactly: f16, bf16, f8, bool and integers of 8 and 16 bits to float ("narrow" lanes, as f32),
// integers of 32 bits to double ("wide" lanes, as f64).  64-bit integers and magnitudes of complex numbers are rounded
// to double; the sums of 64-bit integers are taken from the integers (integer_sums in wide_sum.hpp).
//
// A tensor is cut into blocks of 2048 elements, a block into rows of 16; element i of a row belongs to virtual lane i.
// Every lane starts at +0, a product at 1.  At a block's end the sixteen lanes merge by halves: lane i takes lane
// i + 8, then i + 4, i + 2, i + 1.  Block results go up in order, as wide sums (106 bits).
//
// * Sums of narrow lanes (x, |x|, x * x): one double a lane, row after row.  x * x of a float is exact in a double, so
//   an FMA changes nothing.  A lane takes 127 roundings, the tree 4, the end 1: at most 132 * 2^-53 < 2^-45 of the sum
//   of magnitudes, at any length.
// * Sums of wide lanes: eight rows at a time, t = ((x0+x1)+(x2+x3)) + ((x4+x5)+(x6+x7)), missing elements are +0; then
//   t goes into the lane's wide sum by two_sum.  3 roundings in the tree, one for x * x, 1 at the end: below 2^-50.
//   x * x is rounded before it is added.
// * Products: scaled lanes (scaled_product in wide_sum.hpp); mantissas multiply row after row, each step rounded,
//   exponents add exactly.  Powers of two do not change roundings, so a kernel may normalise when it likes.
// * Squares about the mean (spread below): only for blocks that need them.  c is the block's mean; d = x - c and d * d
//   are rounded, then added, one double a lane, row after row.
// * min, max, counts: exact, in any order.  A zero has no sign in the results: -0 counts as 0, and min, max, sum and
//   prod give +0.
//
// All of it holds in the default floating-point environment: round to nearest, denormals kept.
inline constexpr std::size_t lane_count = 16;
inline constexpr std::size_t block_size = 2048;
inline constexpr std::size_t group_rows = 8;

/// What a sweep over a block computes besides the sum, which is always computed: it shows whether all elements are
/// finite.
struct parts {
    bool extrema = false;   ///< min, max
    bool smallest = false;  ///< min of |x|, which also detects zeros; needs extrema
    bool norms = false;     ///< sums of |x| and of x * x
    bool product = false;   ///< needs smallest
    friend constexpr bool operator==(const parts&, const parts&) = default;
};

/// The result of a sweep over one block; parts that are not wanted keep these values.
/// With a NaN in the block the extrema and the product are meaningless; with an infinity only the product's sign is
/// meaningful.
struct block_result {
    wide_sum sum;
    wide_sum magnitudes;
    wide_sum squares;
    double min = infinity;
    double max = -infinity;
    double abs_min = infinity;
    scaled_product product;
};

/// Sums about a centre: of d and of d * d, d = x - centre.
struct centred_result {
    double first = 0;
    double second = 0;
};

/// Elements by kind.
struct element_counts {
    std::uint64_t nan = 0;
    std::uint64_t pos_inf = 0;
    std::uint64_t neg_inf = 0;
    std::uint64_t zeros = 0;
};

template <class Number>
using lane_array = std::array<Number, lane_count>;

/// Merges lanes by halves down to one: each lane of the first half with its counterpart in the second, and so on.
/// In registers: loops over an array that they change wait at each step for the previous store.
template <class Tag, std::size_t Width = 1, class Number, std::size_t Size, class Join>
[[nodiscard, gnu::always_inline]] inline Number by_halves(const std::array<Number, Size>& lane, const Join& join,
                                                          std::size_t i = 0) noexcept {
    if constexpr (Width == Size) {
        return lane[i];
    } else {
        return join(by_halves<Tag, 2 * Width>(lane, join, i), by_halves<Tag, 2 * Width>(lane, join, i + Width));
    }
}

/// The lanes' sum by halves.  `Size` < 16 continues a tree whose upper steps are done.
template <class Tag, std::size_t Size>
[[nodiscard]] inline double tree_sum(const std::array<double, Size>& lane) noexcept {
    return by_halves<Tag>(lane, [](double a, double b) noexcept { return a + b; });
}

/// The sum of wide lanes by halves, not normalised on the way.
template <class Tag, std::size_t Size>
[[nodiscard]] inline wide_sum tree_sum(std::array<double, Size>& high, std::array<double, Size>& low) noexcept {
    for (std::size_t width = Size / 2; width > 0; width /= 2) {
        for (std::size_t i = 0; i < width; ++i) {
            const wide_sum sum = two_sum<Tag>(high[i], high[i + width]);
            high[i] = sum.high;
            low[i] = sum.low + (low[i] + low[i + width]);
        }
    }
    return normalised<Tag>(high[0], low[0]);
}

/// The lanes' product by halves; sixteen mantissas below 2 cannot overflow.
template <class Tag, std::size_t Size>
[[nodiscard]] inline scaled_product tree_product(const std::array<double, Size>& mantissa,
                                                 std::int64_t exponent) noexcept {
    return scaled<Tag>(by_halves<Tag>(mantissa, [](double a, double b) noexcept { return a * b; }), exponent);
}

/// Element i of lanes at any alignment.
template <class Tag, class Lane>
[[nodiscard]] inline double lane_at(const std::byte* at, std::size_t i) noexcept {
    Lane value;
    std::memcpy(&value, at + i * sizeof(Lane), sizeof(Lane));
    return static_cast<double>(value);
}

/// A block's product, an element at a time.  The definition itself; sweeps that multiply several rows before they
/// normalise fall back on it if the elements' range does not allow that.  Infinities count as +-1.
template <class Tag, class Lane>
[[nodiscard]] inline scaled_product careful_product(const std::byte* at, std::size_t count) noexcept {
    std::array<double, lane_count> mantissa;
    mantissa.fill(1);
    std::int64_t exponent = 0;
    for (std::size_t i = 0; i < count; ++i) {
        scaled_product factor = scaled<Tag>(lane_at<Tag, Lane>(at, i));
        if (!is_finite(factor.mantissa)) {
            factor.mantissa = factor.mantissa < 0 ? -1 : 1;
        }
        const scaled_product product =
            scaled<Tag>(mantissa[i % lane_count] * factor.mantissa, exponent + factor.exponent);
        mantissa[i % lane_count] = product.mantissa;
        exponent = product.exponent;
    }
    return tree_product<Tag>(mantissa, exponent);
}

/// Counts elements of each kind.  For the rare blocks that have some.
template <class Tag, class Lane>
[[nodiscard]] inline element_counts count_kinds(const std::byte* at, std::size_t count) noexcept {
    element_counts counts;
    for (std::size_t i = 0; i < count; ++i) {
        const double value = lane_at<Tag, Lane>(at, i);
        counts.zeros += value == 0 ? 1U : 0U;
        if (!is_finite(value)) {
            counts.nan += value != value ? 1U : 0U;
            counts.pos_inf += value > 0 ? 1U : 0U;
            counts.neg_inf += value < 0 ? 1U : 0U;
        }
    }
    return counts;
}

// Variance: the squares about the mean, block by block, merged by Chan's formula.
// One pass of raw squares loses all digits when the mean is large; a second pass over memory would cost as much again.

/// The mean, and the sum of squares about it, of `count` elements.
struct spread {
    double count = 0;
    wide_sum mean;
    wide_sum deviations;
};

/// Adds a block to the previous ones (Chan, Golub, LeVeque).  Means are wide sums, because their difference matters
/// when they are large and close together.
template <class Tag>
inline void merge(spread& all, const spread& block) noexcept {
    if (all.count == 0) {
        all = block;
        return;
    }
    const double count = all.count + block.count;
    const double share = block.count / count;
    const double apart = minus<Tag>(block.mean, all.mean).high;
    const double between = rounded<Tag>(rounded<Tag>(rounded<Tag>(apart * apart) * all.count) * share);
    all.mean = plus<Tag>(all.mean, wide_sum{rounded<Tag>(apart * share), 0});
    all.deviations = plus<Tag>(plus<Tag>(all.deviations, block.deviations), wide_sum{between, 0});
    all.count = count;
}

/// The share of the squares that may cancel before a block is centred.  Let Q be the block's sum of squares, S its sum.
/// Both are known to 2^-46 of the magnitudes, so Q - S * S / n is known to 3 * 2^-46 of Q.  While it is at least Q / 16
/// (mean below 4 std) that is a relative error below 2^-40, inside the promised 1e-12, and the block needs no second
/// pass.
inline constexpr double cancellation_limit = 16;

/// A second pass over a block: sums about a centre near the mean.
struct second_look {
    wide_sum centre;
    centred_result about;
};

/// Mean and spread of one block, of x or of |x|: from its sums if they are exact enough, else by look(mean), a second
/// sweep over the block, which is still in L1.  `sum` is that of x or |x|.
template <class Tag, class Look>
[[nodiscard]] inline spread block_spread(double count, wide_sum sum, wide_sum squares, const Look& look) noexcept {
    const wide_sum mean = divided<Tag>(sum, count);
    const double raw = squares.high - rounded<Tag>(sum.high * mean.high);
    if (raw * cancellation_limit >= squares.high) {
        return {count, mean, {raw, 0}};
    }
    const second_look seen = look(mean);
    const double shift = seen.about.first / count;  // from the centre to the mean, known as well as the deviations
    const double deviations = seen.about.second - rounded<Tag>(seen.about.first * shift);
    return {count, plus<Tag>(seen.centre, wide_sum{shift, 0}), {deviations > 0 ? deviations : 0, 0}};
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
