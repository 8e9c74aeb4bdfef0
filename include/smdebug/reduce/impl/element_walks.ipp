// The bodies of <smdebug/reduce/element_walks.hpp>.
#pragma once

#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/tensor/reals.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <span>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// Added in several chains: the compiler may not reorder a sum of doubles by itself.
template <class T>
[[nodiscard]] double sum_of(std::span<const T> elements) noexcept {
    constexpr std::size_t chains = 8;
    std::array<double, chains> sums{};
    std::size_t i = 0;
    for (; i + chains <= elements.size(); i += chains) {
        for (std::size_t k = 0; k < chains; ++k) {
            sums[k] += to_double(elements[i + k]);
        }
    }
    double sum = 0;
    for (; i < elements.size(); ++i) {
        sum += to_double(elements[i]);
    }
    for (const double part : sums) {
        sum += part;
    }
    return sum;
}

SMDEBUG_INLINE std::optional<std::vector<double>> channel_sums(const tensor_value& tensor, std::size_t channels,
                                                               std::size_t inner) {
    std::vector<double> sums(channels);
    const bool real = visit_reals(tensor, [&]<class T>(std::span<const T> elements) {
        for (std::size_t begin = 0, at = 0; begin < elements.size(); begin += inner, ++at) {
            sums[at % channels] += sum_of(elements.subspan(begin, inner));
        }
    });
    return real ? std::optional{std::move(sums)} : std::nullopt;
}

SMDEBUG_INLINE std::vector<double> row_argmax(const tensor_value& values) {
    std::vector<double> found;
    const std::size_t width = values.shape().empty() ? 0 : values.shape().back();
    if (width == 0) {
        return found;
    }
    visit_reals(values, [&]<class T>(std::span<const T> elements) {
        found.reserve(elements.size() / width);
        for (std::size_t row = 0; row + width <= elements.size(); row += width) {
            std::size_t best = 0;
            bool has_nan = false;
            for (std::size_t i = 0; i < width; ++i) {
                has_nan = has_nan || std::isnan(to_double(elements[row + i]));
                best = elements[row + i] > elements[row + best] ? i : best;
            }
            found.push_back(has_nan ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(best));
        }
    });
    return found;
}

/// How many elements are `value` as doubles.  Compares in T where that gives the same: it is faster.
template <class T>
[[nodiscard]] std::size_t count_in(std::span<const T> elements, double value) {
    const auto equal = [&](T wanted) {
        return static_cast<std::size_t>(std::count(elements.begin(), elements.end(), wanted));
    };
    constexpr double exact_integers = 0x1p53;  // below it double and int64 say the same
    if constexpr (std::integral<T> && !std::same_as<T, bool>) {
        if (std::abs(value) < exact_integers) {
            const bool fits = value == std::trunc(value) &&
                              value >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
                              value <= static_cast<double>(std::numeric_limits<T>::max());
            return fits ? equal(static_cast<T>(value)) : 0;
        }
    } else if constexpr (std::same_as<T, double>) {
        return equal(value);
    }
    return static_cast<std::size_t>(
        std::count_if(elements.begin(), elements.end(), [&](T each) { return to_double(each) == value; }));
}

SMDEBUG_INLINE std::size_t count_equal(const tensor_value& tensor, double value) {
    std::size_t found = 0;
    visit_reals(tensor, [&]<class T>(std::span<const T> elements) { found = count_in(elements, value); });
    return found;
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
