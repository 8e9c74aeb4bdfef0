// Quantiles of a tensor: exact order statistics, interpolated as numpy.quantile does by default.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/select.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/flat_elements.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {

struct quantile_options {
    bool abs = false;  ///< of |x|; the only form that complex tensors have
};

namespace reduce {

namespace detail {

/// Where a quantile lies among `count` sorted elements: between ranks below and below + 1, `share` of the way.
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

/// The value `share` of the way from a to b, a <= b, 0 <= share < 1; numpy's two formulas, which meet both ends.
/// Where numpy gives NaN or infinity for want of care: a where share is 0 or a = b, the infinite one of the two where
/// one is infinite, the mean by weights where b - a overflows.
template <class Tag>
[[nodiscard]] inline double interpolated(double a, double b, double share) noexcept {
    if (share == 0 || a == b) {
        return a;
    }
    if (!detail::is_finite<Tag>(a) || !detail::is_finite<Tag>(b)) {
        return a + b;  // from -inf to inf: NaN
    }
    const double apart = b - a;
    if (!detail::is_finite<Tag>(apart)) {
        return detail::rounded<Tag>(a * (1 - share)) + detail::rounded<Tag>(b * share);
    }
    return share < 0.5 ? a + detail::rounded<Tag>(apart * share) : b - detail::rounded<Tag>(apart * (1 - share));
}

template <class Order>
[[nodiscard]] inline std::vector<double> quantiles_in(const std::byte* elements, std::size_t count,
                                                      std::span<const double> q) {
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
/// Shapes:  any, taken as flat; an empty tensor gives NaN.      Units: the tensor's, as doubles.
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
    return visit_dtype(tensor.type, [&]<class T>() -> std::vector<double> {
        if constexpr (requires { sizeof(reduce::detail::element_order<T, false>); }) {
            if (!options.abs) {
                return reduce::quantiles_in<reduce::detail::element_order<T, false>>(tensor.bytes.data(), count, q);
            }
        }
        return reduce::quantiles_in<reduce::detail::element_order<T, true>>(tensor.bytes.data(), count, q);
    });
}

/// The same of numbers as a hook saves them: a std::vector or std::span of float, an xtensor expression, an Eigen matrix.
///
///     const auto ends = smd::quantiles(std::vector<float>{3, 1, 2}, std::array{0.0, 0.5, 1.0});
///
/// Cost:    besides, of what does not lie one after another, a copy.
template <element_source Values>
[[nodiscard]] result<std::vector<double>> quantiles(const Values& values, std::span<const double> q,
                                                    quantile_options options = {}) {
    return quantiles(detail::flat_elements<Values>{values}.view(), q, options);
}

#ifdef SMDEBUG_COMPILED
extern template result<std::vector<double>> quantiles<>(const tensor_view&, std::span<const double>, quantile_options);
#endif

}  // namespace v1
}  // namespace smdebug
