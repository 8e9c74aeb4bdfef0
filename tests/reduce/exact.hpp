// Exact arithmetic for the tests of reduce/: big integers, elements as integers times powers of two, and checks of the
// promised error bounds against them.  Slow and simple; shares no code with the library.
#pragma once

#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>

#include "support/test.hpp"

#include <smdebug/core/strict_math/begin.ipp>

namespace reduce_test {

/// A signed integer of any size.
class big {
public:
    big() = default;
    explicit big(std::uint64_t value) { add_word(0, value); }

    [[nodiscard]] bool is_zero() const { return limbs_.empty(); }
    [[nodiscard]] bool negative() const { return negative_; }

    /// this += (-1)^negative * value * 2^shift
    void add(bool negative, std::uint64_t value, std::size_t shift) {
        const std::uint64_t low = (value & 0xFFFFFFFFU) << (shift % 32);
        const std::uint64_t high = (value >> 32U) << (shift % 32);
        if (value == 0) {
            return;
        }
        if (negative_ == negative && !limbs_.empty()) {  // in place: sums of many elements take long enough
            add_word(shift / 32, low);
            add_word(shift / 32 + 1, high);
            return;
        }
        big other;
        other.limbs_.assign(shift / 32 + 4, 0);
        other.add_word(shift / 32, low);
        other.add_word(shift / 32 + 1, high);
        other.trim();
        other.negative_ = negative && !other.limbs_.empty();
        *this = *this + other;
    }

    [[nodiscard]] friend big operator+(const big& a, const big& b) {
        if (a.negative_ == b.negative_) {
            big sum = a;
            sum.add_magnitude(b);
            return sum;
        }
        const int order = compare_magnitude(a, b);
        if (order == 0) {
            return {};
        }
        big difference = order > 0 ? a : b;
        difference.subtract_magnitude(order > 0 ? b : a);
        return difference;
    }
    [[nodiscard]] big operator-() const {
        big result = *this;
        result.negative_ = !negative_ && !limbs_.empty();
        return result;
    }
    [[nodiscard]] friend big operator-(const big& a, const big& b) { return a + -b; }
    [[nodiscard]] friend big operator*(const big& a, const big& b) {
        big product;
        product.limbs_.assign(a.limbs_.size() + b.limbs_.size() + 1, 0);
        for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
            std::uint64_t carry = 0;
            for (std::size_t j = 0; j < b.limbs_.size() || carry != 0; ++j) {
                const std::uint64_t factor = j < b.limbs_.size() ? b.limbs_[j] : 0;
                const std::uint64_t sum = product.limbs_[i + j] + std::uint64_t{a.limbs_[i]} * factor + carry;
                product.limbs_[i + j] = static_cast<std::uint32_t>(sum);
                carry = sum >> 32U;
            }
        }
        product.trim();
        product.negative_ = a.negative_ != b.negative_ && !product.limbs_.empty();
        return product;
    }
    [[nodiscard]] big shifted(std::size_t bits) const {
        big factor;
        factor.limbs_.assign(bits / 32 + 1, 0);
        factor.limbs_.back() = 1U << (bits % 32);
        return *this * factor;
    }
    [[nodiscard]] big absolute() const {
        big result = *this;
        result.negative_ = false;
        return result;
    }
    [[nodiscard]] friend bool operator<=(const big& a, const big& b) {
        const big difference = b - a;
        return !difference.negative_;
    }

private:
    void add_word(std::size_t at, std::uint64_t word) {
        while (word != 0) {
            if (at >= limbs_.size()) {
                limbs_.resize(at + 1, 0);
            }
            const std::uint64_t sum = std::uint64_t{limbs_[at]} + (word & 0xFFFFFFFFU);
            limbs_[at] = static_cast<std::uint32_t>(sum);
            word = (word >> 32U) + (sum >> 32U);
            ++at;
        }
    }
    void add_magnitude(const big& b) {
        limbs_.resize(std::max(limbs_.size(), b.limbs_.size()) + 1, 0);
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < limbs_.size(); ++i) {
            const std::uint64_t sum = std::uint64_t{limbs_[i]} + (i < b.limbs_.size() ? b.limbs_[i] : 0U) + carry;
            limbs_[i] = static_cast<std::uint32_t>(sum);
            carry = sum >> 32U;
        }
        trim();
    }
    void subtract_magnitude(const big& b) {
        std::uint64_t borrow = 0;
        for (std::size_t i = 0; i < limbs_.size(); ++i) {
            const std::uint64_t take = (i < b.limbs_.size() ? b.limbs_[i] : 0U) + borrow;
            borrow = std::uint64_t{limbs_[i]} < take ? 1 : 0;
            limbs_[i] = static_cast<std::uint32_t>(std::uint64_t{limbs_[i]} + (borrow << 32U) - take);
        }
        trim();
    }
    [[nodiscard]] static int compare_magnitude(const big& a, const big& b) {
        if (a.limbs_.size() != b.limbs_.size()) {
            return a.limbs_.size() < b.limbs_.size() ? -1 : 1;
        }
        for (std::size_t i = a.limbs_.size(); i-- > 0;) {
            if (a.limbs_[i] != b.limbs_[i]) {
                return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
            }
        }
        return 0;
    }
    void trim() {
        while (!limbs_.empty() && limbs_.back() == 0) {
            limbs_.pop_back();
        }
        negative_ = negative_ && !limbs_.empty();
    }

    std::vector<std::uint32_t> limbs_;
    bool negative_ = false;
};

/// All elements are integers times 2^-1074, squares times 2^-2148.
inline constexpr int unit = 1074;

/// (-1)^negative * mantissa * 2^exponent, exactly.
struct element {
    bool negative = false;
    std::uint64_t mantissa = 0;
    int exponent = 0;
};

/// Any finite double.
[[nodiscard]] inline element element_of(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto biased = static_cast<int>((bits >> 52U) & 0x7FFU);
    const std::uint64_t fraction = bits & 0xFFFFFFFFFFFFFU;
    return {(bits >> 63U) != 0, biased == 0 ? fraction : fraction | (std::uint64_t{1} << 52U),
            biased == 0 ? -1074 : biased - 1075};
}
[[nodiscard]] inline element element_of(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return {value < 0, value < 0 ? 0 - bits : bits, 0};
}
[[nodiscard]] inline element element_of(std::uint64_t value) { return {false, value, 0}; }

[[nodiscard]] inline big big_of(const element& x) {
    big value;
    value.add(x.negative, x.mantissa, static_cast<std::size_t>(x.exponent + unit));
    return value;
}
[[nodiscard]] inline big big_of(double value) { return big_of(element_of(value)); }

/// What the elements' sums are, exactly.
struct exact_sums {
    std::size_t count = 0;
    big sum;         ///< in 2^-1074
    big magnitudes;  ///< in 2^-1074
    big squares;     ///< in 2^-2148

    explicit exact_sums(const std::vector<element>& elements) : count(elements.size()) {
        for (const element& x : elements) {
            const auto shift = static_cast<std::size_t>(x.exponent + unit);
            sum.add(x.negative, x.mantissa, shift);
            magnitudes.add(false, x.mantissa, shift);
            const std::uint64_t low = x.mantissa & 0xFFFFFFFFU;
            const std::uint64_t high = x.mantissa >> 32U;
            squares.add(false, low * low, 2 * shift);
            squares.add(false, low * high, 2 * shift + 33);
            squares.add(false, high * high, 2 * shift + 64);
        }
    }
};

/// Whether |value - exact| <= scale * 2^-bits, in any common unit.
[[nodiscard]] inline bool within(const big& value, const big& exact, const big& scale, std::size_t bits) {
    return (value - exact).absolute().shifted(bits) <= scale;
}

/// Where an exact value is beyond every double, so that only an infinity can answer.  `exact` in 2^-1074.
[[nodiscard]] inline bool too_large(const big& exact) {
    return !(exact.absolute() <= big_of(std::numeric_limits<double>::max()));
}

/// The promised bounds: sums to 2^-bits of the magnitudes, spreads to 1 / inverse_tolerance of themselves.
struct bounds {
    std::size_t bits = 45;
    std::uint64_t inverse_tolerance = 1'000'000'000'000;
};

/// Whether a mean is right: mean * n against the sum; a mean that is denormal may be rounded by its own last place.
[[nodiscard]] inline bool mean_is_right(double mean, const big& sum, const exact_sums& exact, const bounds& bound) {
    const big n(exact.count);
    return within(big_of(mean) * n, sum, exact.magnitudes + n.shifted(bound.bits), bound.bits);
}

/// Whether variance and std are those of elements with this sum.  Both sides times n^2, in 2^-2148.
[[nodiscard]] inline bool spread_is_right(double variance, double deviation, const big& sum, const exact_sums& exact,
                                          const bounds& bound) {
    const big n(exact.count);
    const big wanted = n * exact.squares - sum * sum;
    const big tolerance(bound.inverse_tolerance);
    if (!smdebug::is_finite(variance)) {
        const big largest = big_of(std::numeric_limits<double>::max()).shifted(unit) * n * n;
        return variance > 0 && deviation == variance && !(wanted <= largest);
    }
    const big last_place = n * n * big(2).shifted(unit);  // where the variance is denormal
    const big found = big_of(variance).shifted(unit) * n * n;
    const bool variance_right = (found - wanted).absolute() * tolerance <= wanted + last_place * tolerance;
    return variance_right && deviation == std::sqrt(variance);
}

/// Whether sqrt(squares) is the norm: compared as squares, so twice the tolerance.
[[nodiscard]] inline bool norm_is_right(double norm, const exact_sums& exact, const bounds& bound) {
    const big largest = big_of(std::numeric_limits<double>::max());
    if (!smdebug::is_finite(norm)) {
        return norm > 0 && !(exact.squares <= largest * largest);
    }
    const big root = big_of(norm);
    const big last_place = root + root + big(1);
    return within(root * root, exact.squares, exact.squares + last_place.shifted(bound.bits - 1), bound.bits - 1);
}

/// Whether a sum is right; beyond the range of doubles it is an infinity.
[[nodiscard]] inline bool sum_is_right(double value, const big& sum, const exact_sums& exact, const bounds& bound) {
    if (!smdebug::is_finite(value)) {
        return !smdebug::is_nan(value) && too_large(sum) && (value < 0) == sum.negative();
    }
    return within(big_of(value), sum, exact.magnitudes, bound.bits);
}

/// Checks the sums, norms and spreads of finite elements; with `plain` those of x too, else only those of |x|.
inline void check_sums(const smdebug::reduction_values& values, const std::vector<element>& elements,
                       const bounds& bound, bool plain = true) {
    using enum smdebug::reduction;
    const exact_sums exact(elements);
    CHECK(values.count == exact.count);
    CHECK(sum_is_right(values(l1), exact.magnitudes, exact, bound));
    CHECK(norm_is_right(values(l2), exact, bound));
    CHECK(values(l1, true) == values(l1));
    CHECK(values(l2, true) == values(l2));
    CHECK(values(sum, true) == values(l1));
    if (exact.count == 0) {
        CHECK(smdebug::is_nan(values(mean, true)));
        CHECK(smdebug::is_nan(values(variance, true)));
        return;
    }
    CHECK(mean_is_right(values(mean, true), exact.magnitudes, exact, bound));
    CHECK(spread_is_right(values(variance, true), values(std, true), exact.magnitudes, exact, bound));
    if (plain) {
        CHECK(sum_is_right(values(sum), exact.sum, exact, bound));
        CHECK(mean_is_right(values(mean), exact.sum, exact, bound));
        CHECK(spread_is_right(values(variance), values(std), exact.sum, exact, bound));
    }
}

/// Checks a product: relative error n * 2^-53 times 2, inside the range of doubles.  Exact, so for short tensors.
[[nodiscard]] inline bool product_is_right(double value, const std::vector<element>& elements) {
    big mantissas(1);
    long exponent = 0;
    bool negative = false;
    for (const element& x : elements) {
        mantissas = mantissas * big(x.mantissa);
        exponent += x.exponent;
        negative = negative != x.negative;
    }
    if (mantissas.is_zero()) {
        return value == 0;
    }
    if (!smdebug::is_finite(value)) {
        return !smdebug::is_nan(value) && (value < 0) == negative &&
               !(mantissas <= big(1).shifted(static_cast<std::size_t>(std::max(0L, 1023 - exponent))));
    }
    const element found = element_of(value);
    const long common = std::min(exponent, -1074L);
    const big wanted = mantissas.shifted(static_cast<std::size_t>(exponent - common));
    const big answered = big(found.mantissa).shifted(static_cast<std::size_t>(found.exponent - common));
    const big last_place = big(1).shifted(static_cast<std::size_t>(-1074L - common));
    return (value == 0 || found.negative == negative) &&
           (answered - wanted).absolute().shifted(52) <= wanted * big(elements.size() + 1) + last_place.shifted(52);
}

}  // namespace reduce_test
#include <smdebug/core/strict_math/end.ipp>
