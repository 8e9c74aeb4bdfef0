// Variance: the squares about the mean, block by block, merged by Chan's formula.
// One pass of raw squares loses all digits when the mean is large; a second pass over memory would cost as much again.
#pragma once

#include <smdebug/reduce/lanes.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/wide_sum.hpp>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

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
/// are known to 2^-46 of the magnitudes, so Q - S * S / n is known to 3 * 2^-46 of Q.  While it is at least Q / 16
/// (mean below 4 std) that is a relative error below 2^-40, inside the promised 1e-12, and the block needs no second
/// look.
inline constexpr double cancellation_limit = 16;

/// A second look at a block: sums about a centre near the mean.
struct second_look {
    wide_sum centre;
    centred_result about;
};

/// Mean and spread of one block, of x or of |x|: from its sums where they are good enough, else by look(mean), a second
/// sweep over the block, which still lies in L1.  `sum` is that of x or |x|.
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

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
