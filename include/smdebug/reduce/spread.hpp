// Variance: the squares about the mean, block by block, merged by Chan's formula.
// One pass of raw squares loses all digits when the mean is large; a second pass over memory would cost as much again.
// Used by: reduce (accumulate, finish).
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/wide_sum.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace reduce {

/// Mean and sum of squares about it, of `count` elements.
struct spread {
    double count = 0;
    wide_sum mean;
    wide_sum deviations;
};

/// Adds a block to what came before it (Chan, Golub, LeVeque).  Means are wide sums, because their difference is
/// what counts when they are large and close together.
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

/// How much of the squares may cancel before a block is centred.  Let Q be the block's sum of squares, S its sum.  Both
/// are known to 2^-46 of the magnitudes, so Q - S * S / n is known to 3 * 2^-46 of Q.  While it is at least Q / 16 (mean
/// below 4 std) that is a relative error below 2^-40, inside the promised 1e-12, and the block needs no second look.
inline constexpr double cancellation_limit = 16;

/// Mean and spread of one block, of x or of |x|: from its sums where they are good enough, else by a second sweep over
/// the block, which still lies in L1.  `sum` is that of x or |x|.
template <class Sweeps, class Lane>
[[nodiscard]] inline spread block_spread(const std::byte* at, std::size_t count, wide_sum sum, wide_sum squares,
                                         bool magnitudes) noexcept {
    const auto elements = static_cast<double>(count);
    const wide_sum mean = divided<Sweeps>(sum, elements);
    const double raw = squares.high - rounded<Sweeps>(sum.high * mean.high);
    if (raw * cancellation_limit >= squares.high) {
        return {elements, mean, {raw, 0}};
    }
    const centred_result about = Sweeps::template centre<Lane>(at, count, mean.high, magnitudes);
    const double shift = about.first / elements;  // the mean's own rounding, seen from close by
    const double deviations = about.second - rounded<Sweeps>(about.first * shift);
    return {elements, two_sum<Sweeps>(mean.high, shift), {deviations > 0 ? deviations : 0, 0}};
}

}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
