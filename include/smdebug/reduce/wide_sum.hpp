// A sum in two doubles: about 106 bits, so that adding up block after block loses nothing that matters.
// Plain doubles would lose a bit with each doubling of the length; the error bounds hold for any length.
#pragma once

#include <cmath>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The unevaluated sum high + low.  Normalised: high is the double nearest to the sum.
struct wide_sum {
    double high = 0;
    double low = 0;
};

/// a + b exactly (Knuth).  Additions only, so nothing can be contracted.
template <class Tag>
[[nodiscard]] inline wide_sum two_sum(double a, double b) noexcept {
    const double sum = a + b;
    const double part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

/// high + low, normalised, where |low| is at most |high| or high is 0 (Dekker).
template <class Tag>
[[nodiscard]] inline wide_sum normalised(double high, double low) noexcept {
    const double sum = high + low;
    return {sum, low - (sum - high)};
}

/// a + b, normalised.  Error: 2^-104 of |a| + |b|; none for integers below 2^104.
template <class Tag>
[[nodiscard]] inline wide_sum plus(wide_sum a, wide_sum b) noexcept {
    const wide_sum sum = two_sum<Tag>(a.high, b.high);
    return normalised<Tag>(sum.high, sum.low + (a.low + b.low));
}

template <class Tag>
[[nodiscard]] inline wide_sum minus(wide_sum a, wide_sum b) noexcept {
    return plus<Tag>(a, wide_sum{-b.high, -b.low});
}

/// a / n, normalised.  The FMA is part of the definition: it gives the exact remainder, and std::fma does so with
/// and without the instruction.  Once a block and once a tensor, so its cost without the instruction is small.
template <class Tag>
[[nodiscard]] inline wide_sum divided(wide_sum a, double n) noexcept {
    const double quotient = a.high / n;
    const double remainder = std::fma(-quotient, n, a.high);
    return normalised<Tag>(quotient, (remainder + a.low) / n);
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
