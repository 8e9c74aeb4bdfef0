// A product with its exponent kept apart, so that neither lanes nor blocks overflow on the way.
// Sixteen plain running products would give inf * 0 = NaN for data whose product is 1 (1e300, 1e-300, 1e300, ...).
#pragma once

#include <smdebug/reduce/rounded.hpp>

#include <bit>
#include <cmath>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// mantissa * 2^exponent.  The mantissa is in [1, 2) or (-2, -1], or one of 0, +-inf, NaN (then the exponent is 0).
struct scaled_product {
    double mantissa = 1;
    std::int64_t exponent = 0;
};

/// A running product leaves the range at 2^+-16384, the range of a quadruple: it then is 0 or infinite for good.
/// A limit is needed so that long tensors need not multiply to the end: a product that is 0 stays 0.
inline constexpr std::int64_t product_exponent_limit = 16384;

/// value * 2^exponent with the mantissa in its range; 0, inf and NaN stay as they are.
template <class Tag>
[[nodiscard]] inline scaled_product scaled(double value, std::int64_t exponent = 0) noexcept {
    if (value == 0 || !is_finite<Tag>(value)) {
        return {value, 0};
    }
    constexpr double smallest_normal = 0x1p-1022;
    if (magnitude<Tag>(value) < smallest_normal) {
        value *= 0x1p64;
        exponent -= 64;
    }
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto biased = static_cast<std::int64_t>((bits >> 52U) & 0x7FFU);
    return {std::bit_cast<double>((bits & 0x800FFFFFFFFFFFFFU) | 0x3FF0000000000000U), exponent + biased - 1023};
}

/// a * b: the mantissas' product rounded once, the exponents' sum exact.  0 * inf is NaN.
template <class Tag>
[[nodiscard]] inline scaled_product times(scaled_product a, scaled_product b) noexcept {
    return scaled<Tag>(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

/// The product as a running one: 0 or infinite from the limit on.
template <class Tag>
[[nodiscard]] inline scaled_product limited(scaled_product a) noexcept {
    if (a.exponent < -product_exponent_limit) {
        return {a.mantissa < 0 ? -0.0 : 0.0, 0};
    }
    if (a.exponent > product_exponent_limit) {
        return {a.mantissa < 0 ? -infinity : infinity, 0};
    }
    return a;
}

/// As a double, rounded once.
template <class Tag>
[[nodiscard]] inline double value_of(scaled_product a) noexcept {
    return std::ldexp(a.mantissa, static_cast<int>(a.exponent));
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
