// A sum in two doubles, about 106 bits: the lanes of all kernels (lanes.hpp, accumulate.hpp) add up blocks in it.
// Plain doubles would lose a bit with each doubling of the length; here the error bounds hold for any length.
#pragma once

#include <smdebug/core/float_kinds.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

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

#if defined(__clang__) && defined(__x86_64__) && !defined(__FMA__)
/// The C library's function under another name: with -ffast-math clang makes two operations of its built-in one.
double library_fma(double x, double y, double z) noexcept __asm__("fma");
#endif

/// x * y + z, rounded once.
template <class Tag>
[[nodiscard]] inline double fused(double x, double y, double z) noexcept {
#if defined(__clang__) && defined(__x86_64__) && !defined(__FMA__)
    return library_fma(x, y, z);
#else
    return __builtin_fma(x, y, z);
#endif
}

/// a / n, normalised.  The FMA is part of the definition: it gives the exact remainder, with and
/// without the instruction.  Used once a block and once a tensor, so its cost without the instruction is small.
template <class Tag>
[[nodiscard]] inline wide_sum divided(wide_sum a, double n) noexcept {
    const double quotient = a.high / n;
    const double remainder = fused<Tag>(-quotient, n, a.high);
    return normalised<Tag>(quotient, (remainder + a.low) / n);
}

/// The value as rounded to double; the optimiser cannot look through it.  Cost: no instruction, only a register.
/// `Tag` names the instruction set of the caller, so that the linker never mixes two of them.
/// Register may be a double or a SIMD register of the target.
template <class Tag, class Register>
[[nodiscard]] inline Register rounded(Register value) noexcept {
#if defined(__x86_64__)
    __asm__("" : "+v"(value));
#elif defined(__aarch64__)
    __asm__("" : "+w"(value));
#else
    __asm__("" : "+m"(value));
#endif
    return value;
}

/// |value|, by the bits.
template <class Tag>
[[nodiscard]] constexpr double magnitude(double value) noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0x7FFFFFFFFFFFFFFFU);
}

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A product with a separate exponent, so that neither lanes nor blocks overflow midway.
// Sixteen plain running products would give inf * 0 = NaN for data whose product is 1 (1e300, 1e-300, 1e300, ...).

/// mantissa * 2^exponent.  The mantissa is in [1, 2) or (-2, -1], or one of 0, +-inf, NaN (then the exponent is 0).
struct scaled_product {
    double mantissa = 1;
    std::int64_t exponent = 0;
};

/// A running product leaves the range at 2^+-16384, the range of a quadruple: then it stays 0 or infinite.
/// The limit exists so that long tensors need not multiply to the end: a product that is 0 stays 0.
inline constexpr std::int64_t product_exponent_limit = 16384;

/// value * 2^exponent with the mantissa in its range; 0, inf and NaN stay as they are.
template <class Tag>
[[nodiscard]] inline scaled_product scaled(double value, std::int64_t exponent = 0) noexcept {
    if (value == 0 || !is_finite(value)) {
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

/// The running product: 0 or infinite from the limit on.
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

// 64-bit integers: exact sums of x and of |x|, exact differences from a mean.
// A double does not hold such an integer; smaller ones do not need this, because their block sums fit in a double.

/// Sums of one block, exactly: a wide sum holds integers below 2^104.
struct integer_sums {
    wide_sum sum;
    wide_sum magnitudes;
};

/// high * 2^32 + low, exactly.
template <class Tag>
[[nodiscard]] inline wide_sum joined(std::uint64_t high, std::uint64_t low) noexcept {
    return two_sum<Tag>(static_cast<double>(high) * 0x1p32, static_cast<double>(low));
}

/// |x| of the smallest integer too.
template <class Tag, class Integer>
[[nodiscard]] constexpr std::uint64_t size_of_integer(std::uint64_t bits) noexcept {
    return std::is_signed_v<Integer> && (bits >> 63U) != 0 ? 0 - bits : bits;
}

/// Sums `count` elements of a block by halves of 32 bits, so that no carry is lost.
template <class Tag, class Integer>
[[nodiscard]] inline integer_sums exact_sums(const std::byte* at, std::size_t count) noexcept {
    static_assert(sizeof(Integer) == 8, "smaller integers are summed exactly in doubles");
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::uint64_t negatives_high = 0;
    std::uint64_t negatives_low = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at + i * sizeof(bits), sizeof(bits));
        const std::uint64_t size = size_of_integer<Tag, Integer>(bits);
        high += size >> 32U;
        low += size & 0xFFFFFFFFU;
        if constexpr (std::is_signed_v<Integer>) {
            const std::uint64_t size_if_negative = size & (0 - (bits >> 63U));
            negatives_high += size_if_negative >> 32U;
            negatives_low += size_if_negative & 0xFFFFFFFFU;
        }
    }
    const wide_sum all = joined<Tag>(high, low);
    const wide_sum negative = joined<Tag>(negatives_high, negatives_low);
    return {minus<Tag>(minus<Tag>(all, negative), negative), all};
}

/// An integer near a mean, in the unsigned form used here: signed integers are shifted up by 2^63 (`flip`), so that an
/// unsigned difference and its sign suffice.
struct integer_centre {
    std::uint64_t bits = 0;
    std::uint64_t flip = 0;
    wide_sum value;
};

template <class Tag, class Integer>
[[nodiscard]] inline integer_centre integer_centre_near(wide_sum mean, bool magnitudes) noexcept {
    const bool shifted = std::is_signed_v<Integer> && !magnitudes;
    const wide_sum bias{shifted ? 0x1p63 : 0.0, 0};
    const wide_sum above = plus<Tag>(mean, bias);
    integer_centre centre;
    centre.flip = shifted ? std::uint64_t{1} << 63U : 0;
    centre.bits = above.high >= 0x1p64 ? 0 : static_cast<std::uint64_t>(above.high > 0 ? above.high : 0);
    centre.bits += static_cast<std::uint64_t>(static_cast<std::int64_t>(above.low));
    centre.value = minus<Tag>(joined<Tag>(centre.bits >> 32U, centre.bits & 0xFFFFFFFFU), bias);
    return centre;
}

/// x - centre or |x| - centre as lanes, each rounded once; `centre` is an integer near `mean` and is returned.
template <class Tag, class Integer>
[[nodiscard]] inline wide_sum exact_differences(const std::byte* at, std::size_t count, wide_sum mean, bool magnitudes,
                                                double* to) noexcept {
    const integer_centre about = integer_centre_near<Tag, Integer>(mean, magnitudes);
    const std::uint64_t centre = about.bits;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at + i * sizeof(bits), sizeof(bits));
        const std::uint64_t value = magnitudes ? size_of_integer<Tag, Integer>(bits) : bits ^ about.flip;
        to[i] = value >= centre ? static_cast<double>(value - centre) : -static_cast<double>(centre - value);
    }
    return about.value;
}

/// The 64-bit integer part of the walk.  Vector kernels have their own (simd_integers.hpp), which computes the same
/// bits.
template <class Sweeps>
struct integer_sweeps {
    template <class Integer>
    [[nodiscard]] static integer_sums sums(const std::byte* at, std::size_t count) noexcept {
        return exact_sums<Sweeps, Integer>(at, count);
    }

    template <class Integer>
    [[nodiscard]] static wide_sum differences(const std::byte* at, std::size_t count, wide_sum mean, bool magnitudes,
                                              double* to) noexcept {
        return exact_differences<Sweeps, Integer>(at, count, mean, magnitudes, to);
    }
};

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
