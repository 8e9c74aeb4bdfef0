// Quantiles of a tensor: exact order statistics, interpolated as numpy.quantile does by default.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/subnormals.hpp>
#include <smdebug/reduce/wide_sum.hpp>
#include <smdebug/reduce/widen.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/flat_elements.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include <smdebug/core/strict_math/begin.ipp>
// Order statistics: the elements of given ranks, as if the tensor were sorted, in a few passes and without sorting it.
// Elements are compared by unsigned keys of the same order, so that one selection serves every dtype.
namespace smdebug::inline v1 {
namespace reduce::detail {

template <std::size_t Size>
using unsigned_of_size = std::conditional_t<
    Size == 1, std::uint8_t,
    std::conditional_t<Size == 2, std::uint16_t, std::conditional_t<Size == 4, std::uint32_t, std::uint64_t>>>;

/// Keys of elements of type Element, or of their magnitudes: unsigned numbers in the order of the elements.
///  - key(at): the key of the element at `at`, any alignment;  value(key): the element, rounded to a double once;
///  - lowest, highest: keys of numbers lie between them, those of NaN outside.
/// -0.0 comes just before 0.0; both have the value 0.
template <class Element, bool Abs>
struct element_order;

template <class Element, bool Abs>
    requires std::integral<Element>
struct element_order<Element, Abs> {
    using key_type = std::conditional_t<(sizeof(Element) > 4), std::uint64_t, std::uint32_t>;
    static constexpr std::size_t element_size = sizeof(Element);
    static constexpr key_type lowest = 0;
    static constexpr key_type highest = std::numeric_limits<key_type>::max();
    static constexpr bool shifted = std::is_signed_v<Element> && !Abs;
    static constexpr key_type sign = shifted ? key_type{1} << (8 * sizeof(Element) - 1) : 0;

    [[nodiscard]] static key_type key(const std::byte* at) noexcept {
        const auto bits = load_le<unsigned_of_size<sizeof(Element)>>(at);
        if constexpr (std::same_as<Element, bool>) {
            return bits != 0 ? 1 : 0;
        } else if constexpr (std::is_signed_v<Element> && Abs) {
            const auto negative = static_cast<Element>(bits) < 0;
            return negative ? key_type{0} - static_cast<key_type>(static_cast<Element>(bits)) : bits;
        } else {
            return bits ^ sign;
        }
    }
    [[nodiscard]] static double value(key_type key) noexcept {
        if constexpr (shifted) {
            return static_cast<double>(static_cast<Element>(key ^ sign));
        } else {
            return static_cast<double>(key);
        }
    }
};

template <class Element, bool Abs>
    requires std::floating_point<Element> || smdebug::detail::narrow_float<Element>
struct element_order<Element, Abs> {
    using bits_type = unsigned_of_size<sizeof(Element)>;
    using key_type = std::conditional_t<(sizeof(Element) > 4), std::uint64_t, std::uint32_t>;
    static constexpr std::size_t element_size = sizeof(Element);
    static constexpr unsigned width = 8 * sizeof(Element);
    static constexpr key_type sign = key_type{1} << (width - 1);
    static_assert(std::same_as<Element, float16> || std::same_as<Element, bfloat16> ||
                      std::same_as<Element, float8_e4m3fn> || std::same_as<Element, float8_e5m2> ||
                      std::same_as<Element, float> || std::same_as<Element, double>,
                  "another floating-point type needs its largest number below");
    /// The bits of the largest number: infinity, except in float8_e4m3fn, which has none.
    static constexpr key_type largest_bits = std::same_as<Element, float16>         ? 0x7C00U
                                             : std::same_as<Element, bfloat16>      ? 0x7F80U
                                             : std::same_as<Element, float8_e4m3fn> ? 0x7EU
                                             : std::same_as<Element, float8_e5m2>   ? 0x7CU
                                             : std::same_as<Element, float>
                                                 ? 0x7F800000U
                                                 : static_cast<key_type>(0x7FF0000000000000U);
    static constexpr key_type lowest = Abs ? 0 : sign - 1 - largest_bits;
    static constexpr key_type highest = Abs ? largest_bits : sign + largest_bits;

    [[nodiscard]] static key_type key(const std::byte* at) noexcept {
        const key_type bits = load_le<bits_type>(at);
        if constexpr (Abs) {
            return bits & (sign - 1);
        } else {
            const key_type negative = bits >> (width - 1);
            return bits ^ (((0 - negative) & (sign - 1)) | sign);
        }
    }
    [[nodiscard]] static double value(key_type key) noexcept {
        key_type bits = key;
        if constexpr (!Abs) {
            bits ^= (key & sign) != 0 ? sign : sign | (sign - 1);
        }
        const auto narrow = static_cast<bits_type>(bits);
        if constexpr (std::floating_point<Element>) {
            return static_cast<double>(std::bit_cast<Element>(narrow)) + 0.0;
        } else {
            return static_cast<double>(static_cast<float>(Element::from_bits(narrow))) + 0.0;
        }
    }
};

template <class Real>
struct element_order<std::complex<Real>, true> {
    using key_type = std::uint64_t;
    static constexpr std::size_t element_size = 2 * sizeof(Real);
    static constexpr key_type lowest = 0;
    static constexpr key_type highest = 0x7FF0000000000000U;

    [[nodiscard]] static key_type key(const std::byte* at) noexcept {
        const auto re = static_cast<double>(load_le<Real>(at));
        const auto im = static_cast<double>(load_le<Real>(at + sizeof(Real)));
        return std::bit_cast<std::uint64_t>(complex_magnitude<element_order>(re, im)) & 0x7FFFFFFFFFFFFFFFU;
    }
    [[nodiscard]] static double value(key_type key) noexcept { return std::bit_cast<double>(key); }
};

/// Finds keys by rank.  Counts the elements by the leading bits of their keys, then continues only with those that
/// share them with a wanted one: collects them if they are few, else counts them by their next bits.
template <class Order>
class rank_selector {
public:
    using key_type = typename Order::key_type;

    struct key_range {
        key_type low;
        key_type high;
    };

    rank_selector(const std::byte* elements, std::size_t count) noexcept : elements_(elements), count_(count) {}

    /// The smallest and the largest key; there is at least one element.  Cost: one pass.
    [[nodiscard]] key_range extremes() const noexcept {
        key_range range{key_at(0), key_at(0)};
        for (std::size_t i = 1; i < count_; ++i) {
            const key_type key = key_at(i);
            range.low = key < range.low ? key : range.low;
            range.high = key > range.high ? key : range.high;
        }
        return range;
    }

    /// The keys of `ranks`, which are below the count, rising and without repetition; `range` is extremes().
    /// Cost: two passes; one more for each 16 bits in which more than a 16th of all elements agree, at most
    /// 16 of these a level.  Memory: under 2 MiB and a quarter of the elements' keys.
    [[nodiscard]] std::vector<key_type> select(std::span<const std::size_t> ranks, key_range range) {
        ranks_ = ranks;
        found_.resize(ranks.size());
        narrow({range.low, static_cast<unsigned>(std::bit_width(static_cast<key_type>(range.high - range.low))), 0,
                count_, 0, ranks.size()});
        return std::move(found_);
    }

private:
    /// The `inside` elements whose keys begin at `low` and differ from it in the last `bits` only; `before` are
    /// smaller.  The ranks from `first` up to `last` are among them.
    struct part {
        key_type low;
        unsigned bits;
        std::size_t before;
        std::size_t inside;
        std::size_t first;
        std::size_t last;
    };

    static constexpr std::size_t few = std::size_t{1} << 11U;         ///< not worth counting
    static constexpr std::size_t small_part = std::size_t{1} << 14U;  ///< collected whatever the tensor's size
    static constexpr std::size_t counters_hold = std::size_t{1} << 31U;

    [[nodiscard]] key_type key_at(std::size_t i) const noexcept {
        return Order::key(elements_ + i * Order::element_size);
    }

    /// Narrows the part to its keys.  A value that fills much of a tensor (0, after a ReLU) ends here.
    /// The range may now extend beyond the old end: the keys it adds come after the part's own, so no rank moves.
    [[nodiscard]] part tightened(part all) const noexcept {
        if (all.inside == count_) {
            return all;
        }
        key_type low = std::numeric_limits<key_type>::max();
        key_type high = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            const auto rest = static_cast<key_type>(key_at(i) - all.low);
            // A nested part has fewer bits than a key.  A mask, as compilers tend to turn a choice into a branch.
            const auto outside = static_cast<key_type>(key_type{0} - ((rest >> all.bits) != 0 ? 1U : 0U));
            const auto at_least = static_cast<key_type>(rest | outside);
            const auto at_most = static_cast<key_type>(rest & ~outside);
            low = at_least < low ? at_least : low;
            high = at_most > high ? at_most : high;
        }
        all.low = static_cast<key_type>(all.low + low);
        all.bits = static_cast<unsigned>(std::bit_width(static_cast<key_type>(high - low)));
        return all;
    }

    /// Calls use(i, key - low, digit) for each element; elements outside of the part get one digit beyond its last.
    /// Branch-free: membership in a part that holds half of the elements is unpredictable.
    template <class Use>
    void for_each(const part& all, unsigned shift, std::size_t begin, std::size_t end, const Use& use) const {
        if (all.inside == count_) {
            for (std::size_t i = begin; i < end; ++i) {
                const auto rest = static_cast<key_type>(key_at(i) - all.low);
                use(i, rest, static_cast<std::size_t>(rest >> shift));
            }
            return;
        }
        const auto outside = static_cast<key_type>(key_type{1} << (all.bits - shift));
        for (std::size_t i = begin; i < end; ++i) {
            const auto rest = static_cast<key_type>(key_at(i) - all.low);
            const auto digit = static_cast<key_type>(rest >> shift);
            use(i, rest, static_cast<std::size_t>(digit < outside ? digit : outside));
        }
    }

    /// As many counters as worthwhile: they are read once, the elements often.
    [[nodiscard]] static unsigned digit_bits(const part& all) noexcept {
        const auto pay = static_cast<unsigned>(std::bit_width(all.inside)) - 3U;
        return std::min(std::clamp(pay, 8U, 16U), all.bits);
    }

    [[nodiscard]] std::vector<std::uint64_t> count_digits(const part& all, unsigned shift) const {
        const std::size_t digits = (std::size_t{1} << (all.bits - shift)) + 1;
        std::vector<std::uint64_t> totals(digits);
        std::vector<std::uint32_t> counters(2 * digits);
        for (std::size_t begin = 0; begin < count_; begin += counters_hold) {
            // Two counters in turn: equal neighbours would wait for each other.
            std::fill(counters.begin(), counters.end(), 0U);
            for_each(
                all, shift, begin, std::min(count_, begin + counters_hold),
                [at = counters.data()](std::size_t i, key_type, std::size_t digit) { ++at[2 * digit + (i & 1U)]; });
            for (std::size_t digit = 0; digit < digits; ++digit) {
                totals[digit] += std::uint64_t{counters[2 * digit]} + counters[2 * digit + 1];
            }
        }
        return totals;
    }

    void narrow(const part& wide) {
        const part all = tightened(wide);
        if (all.bits == 0) {
            std::fill(found_.begin() + offset(all.first), found_.begin() + offset(all.last), all.low);
            return;
        }
        if (all.inside <= few) {
            collect_all(all);
            return;
        }
        const unsigned shift = all.bits - digit_bits(all);
        std::vector<part> collected;
        std::vector<part> counted;
        for (const part& one : parts_with_ranks(all, shift)) {
            const bool small = one.inside <= std::max(small_part, count_ / 16);
            (small && shift != 0 ? collected : counted).push_back(one);
        }
        collect_in_turns(all, collected, shift);
        for (const part& one : counted) {
            narrow(one);
        }
    }

    /// The subparts, by the next digit, that contain a wanted rank.
    [[nodiscard]] std::vector<part> parts_with_ranks(const part& all, unsigned shift) const {
        const std::vector<std::uint64_t> totals = count_digits(all, shift);
        std::vector<part> parts;
        std::size_t before = all.before;
        std::size_t digit = 0;
        for (std::size_t rank = all.first; rank < all.last;) {
            while (ranks_[rank] >= before + totals[digit]) {
                before += totals[digit++];
            }
            part one{static_cast<key_type>(all.low + (static_cast<key_type>(digit) << shift)),
                     shift,
                     before,
                     static_cast<std::size_t>(totals[digit]),
                     rank,
                     rank};
            while (one.last < all.last && ranks_[one.last] < before + one.inside) {
                ++one.last;
            }
            rank = one.last;
            parts.push_back(one);
        }
        return parts;
    }

    void collect_in_turns(const part& all, const std::vector<part>& parts, unsigned shift) {
        const std::size_t most = std::max(small_part, count_ / 4);
        for (std::size_t next = 0; next < parts.size();) {
            std::vector<part> turn;
            for (std::size_t size = 0; next < parts.size() && (turn.empty() || size + parts[next].inside <= most);
                 ++next) {
                size += parts[next].inside;
                turn.push_back(parts[next]);
            }
            collect(all, turn, shift);
        }
    }

    /// Copies the keys of some parts of `all`, which differ in their digits above `shift`, and selects in the copies.
    void collect(const part& all, const std::vector<part>& parts, unsigned shift) {
        constexpr std::uint32_t nowhere = ~std::uint32_t{0};
        std::vector<std::uint32_t> part_of((std::size_t{1} << (all.bits - shift)) + 1, nowhere);
        std::vector<std::size_t> ends;
        std::size_t size = 0;
        for (const part& one : parts) {
            part_of[static_cast<std::size_t>((one.low - all.low) >> shift)] = static_cast<std::uint32_t>(ends.size());
            ends.push_back(size);  // advances to the part's end as it fills
            size += one.inside;
        }
        std::vector<key_type> keys(size);
        for_each(all, shift, 0, count_,
                 [to = keys.data(), end = ends.data(), where = part_of.data()](std::size_t, key_type rest,
                                                                               std::size_t digit) {
                     const std::uint32_t which = where[digit];
                     if (which != nowhere) {
                         to[end[which]++] = rest;
                     }
                 });
        for (std::size_t i = 0; i < parts.size(); ++i) {
            select_in(all.low, parts[i], std::span{keys}.subspan(ends[i] - parts[i].inside, parts[i].inside));
        }
    }

    /// Copies the keys of one part as a whole, and selects in the copy.
    void collect_all(const part& all) {
        std::vector<key_type> keys;
        keys.reserve(all.inside);
        for (std::size_t i = 0; i < count_; ++i) {
            const auto rest = static_cast<key_type>(key_at(i) - all.low);
            if (all.inside == count_ || (rest >> all.bits) == 0) {
                keys.push_back(rest);
            }
        }
        select_in(all.low, all, keys);
    }

    void select_in(key_type low, const part& one, std::span<key_type> keys) {
        std::size_t done = 0;
        for (std::size_t rank = one.first; rank < one.last; ++rank) {
            const std::size_t place = ranks_[rank] - one.before;
            std::nth_element(keys.begin() + offset(done), keys.begin() + offset(place), keys.end());
            found_[rank] = static_cast<key_type>(low + keys[place]);
            done = place + 1;
        }
    }

    [[nodiscard]] static std::ptrdiff_t offset(std::size_t count) noexcept {
        return static_cast<std::ptrdiff_t>(count);
    }

    const std::byte* elements_;
    std::size_t count_;
    std::span<const std::size_t> ranks_;
    std::vector<key_type> found_;
};

}  // namespace reduce::detail

struct quantile_options {
    bool abs = false;  ///< of |x|; the only form that complex tensors have
};

namespace reduce {

namespace detail {

/// The position of a quantile among `count` sorted elements: between ranks below and below + 1, at `share` of the way.
struct quantile_place {
    std::size_t below = 0;
    double share = 0;
};

}  // namespace detail

/// numpy's "linear" method: rank q * (count - 1).  `count` is at least 1, q from 0 to 1.
template <class Tag>
[[nodiscard]] inline detail::quantile_place place_of(double q, std::size_t count) noexcept {
    const auto last = static_cast<double>(count - 1);
    const double place = detail::rounded<Tag>(last * q);
    if (place >= last) {
        return {count - 1, 0};
    }
    const double below = std::floor(place);
    return {static_cast<std::size_t>(below), place - below};
}

/// The value at `share` of the way from a to b, a <= b, 0 <= share < 1; numpy's two formulas, which are exact at both
/// ends.
/// Where numpy needlessly gives NaN or infinity: a if share is 0 or a = b, the infinite one of the two if one is
/// infinite, the weighted mean if b - a overflows.
template <class Tag>
[[nodiscard]] inline double interpolated(double a, double b, double share) noexcept {
    if (share == 0 || a == b) {
        return a;
    }
    if (!is_finite(a) || !is_finite(b)) {
        return a + b;  // from -inf to inf: NaN
    }
    const double apart = b - a;
    if (!is_finite(apart)) {
        return detail::rounded<Tag>(a * (1 - share)) + detail::rounded<Tag>(b * share);
    }
    return share < 0.5 ? a + detail::rounded<Tag>(apart * share) : b - detail::rounded<Tag>(apart * (1 - share));
}

template <class Order>
[[nodiscard]] inline std::vector<double> quantiles_in(const std::byte* elements, std::size_t count,
                                                      std::span<const double> q) {
    const detail::subnormals_kept here;
    detail::rank_selector<Order> selector(elements, count);
    const auto range = selector.extremes();
    if (range.low < Order::lowest || range.high > Order::highest) {
        return std::vector<double>(q.size(), detail::not_a_number);
    }
    std::vector<detail::quantile_place> places;
    std::vector<std::size_t> ranks;
    for (const double one : q) {
        const detail::quantile_place place = place_of<Order>(one, count);
        places.push_back(place);
        ranks.push_back(place.below);
        if (place.share != 0) {
            ranks.push_back(place.below + 1);
        }
    }
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    const auto keys = selector.select(ranks, range);
    const auto value_at = [&](std::size_t rank) {
        const auto found = std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin();
        return Order::value(keys[static_cast<std::size_t>(found)]);
    };
    std::vector<double> values;
    for (const detail::quantile_place& place : places) {
        const double below = value_at(place.below);
        const double above = place.share != 0 ? value_at(place.below + 1) : below;
        values.push_back(interpolated<Order>(below, above, place.share));
    }
    return values;
}

}  // namespace reduce

/// Quantiles of a tensor's elements, one for each of `q` (0 the smallest, 0.5 the median, 1 the largest), in its order.
/// Shapes:  any, flattened; an empty tensor gives NaN.      Units: the tensor's, as doubles.
/// Values:  the order statistics are exact, 64-bit integers too, each rounded to a double once; between two of them the
///          value is interpolated in double.  NaN anywhere gives NaN for every quantile.  Infinities are ordered, and
///          between a finite number and an infinity lies the infinity.  0.0 and -0.0 are equal and come out as 0.0.
///          Booleans are 0 and 1.  Complex tensors: only with `abs`, by magnitude.
/// Borrows: both arguments, for the call only.
/// Cost:    about three passes over the bytes for any number of quantiles (see rank_selector), however the elements
///          are ordered; memory: under 2 MiB and a quarter of the tensor.
/// Errors:  unsupported for strings, for complex tensors without `abs`, and for a q that is not from 0 to 1.
/// Source:  numpy.quantile, method "linear"; the same bits as numpy for float64.  numpy interpolates other types partly
///          in their own precision: float32 agrees within 1e-7 of the distance of the two order statistics, numpy's
///          small integers may wrap where ours do not, and 64-bit ones are subtracted before they are rounded.
///          numpy.percentile(a, p) is the quantile p / 100.
template <class Lazy = void>  // a template: including it must not cost 30 selections, one for each dtype and form
[[nodiscard]] result<std::vector<double>> quantiles(const tensor_view& tensor, std::span<const double> q,
                                                    quantile_options options = {}) {
    if (!is_numeric(tensor.type) || (is_complex(tensor.type) && !options.abs) ||
        !std::all_of(q.begin(), q.end(), [](double one) { return one >= 0 && one <= 1; })) {
        return status::unsupported;
    }
    const std::size_t count = tensor.count();
    if (count == 0) {
        return std::vector<double>(q.size(), reduce::detail::not_a_number);
    }
    return visit_dtype(tensor.type, [&]<class Element>() -> std::vector<double> {
        if constexpr (requires { sizeof(reduce::detail::element_order<Element, false>); }) {
            if (!options.abs) {
                return reduce::quantiles_in<reduce::detail::element_order<Element, false>>(tensor.bytes.data(), count,
                                                                                           q);
            }
        }
        return reduce::quantiles_in<reduce::detail::element_order<Element, true>>(tensor.bytes.data(), count, q);
    });
}

/// Quantiles of numbers as a hook saves them: a std::vector or std::span of float, an xtensor expression, an Eigen
/// matrix.
///
///     const auto ends = smd::quantiles(std::vector<float>{3, 1, 2}, std::array{0.0, 0.5, 1.0});
///
/// Cost:    in addition, a copy of elements that are not contiguous.
template <element_source Values>
[[nodiscard]] result<std::vector<double>> quantiles(const Values& values, std::span<const double> q,
                                                    quantile_options options = {}) {
    return quantiles(detail::flat_elements<Values>{values}.view(), q, options);
}

#ifdef SMDEBUG_COMPILED
extern template result<std::vector<double>> quantiles<>(const tensor_view&, std::span<const double>, quantile_options);
#endif

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
