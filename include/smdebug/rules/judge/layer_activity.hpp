// How many nodes of a layer are (almost) never active: one fast pass over the samples of its outputs or inputs.
// Source: the public descriptions of SageMaker Debugger's rules DeadRelu and SaturatedActivation.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/reals.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/trial/lookup.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

/// What an active value is: above < x, and x < below where that is given.  NaN is not active.
struct active_range {
    double above = 0;
    std::optional<double> below = {};
};

/// When a layer is inactive: more than `layer` percent of its nodes are active in less than `inactivity` percent of
/// the samples.
struct activity_thresholds {
    double inactivity = 1;
    double layer = 50;

    /// Errors: value_error where one is no percentage; under the names that rules have for them.
    void check() const;

private:
    static void check(const std::string& name, double percent);
};

/// How many leading axes count samples; a node is a position in the others.
/// Decision: the public description does not say; axis 0 is the batch, and each position is a node of its own.
inline constexpr std::size_t batch_axes = 1;

/// A tensor as samples of nodes.
struct layer_size {
    std::size_t samples = 0;
    std::size_t nodes = 0;
};

/// A tensor that has only batch axes is one sample; one without axes is no layer.
[[nodiscard]] constexpr std::optional<layer_size> layer_size_of(std::span<const std::size_t> extents) noexcept {
    if (extents.empty()) {
        return std::nullopt;
    }
    const std::size_t axes = extents.size() > batch_axes ? batch_axes : 0;
    return layer_size{element_count(extents.first(axes)).value_or(0), element_count(extents.subspan(axes)).value_or(0)};
}

[[nodiscard]] constexpr double percent_of(std::size_t part, std::size_t whole) noexcept {
    return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The fewest parts of a whole whose percentage is enough(percentage), which more of them are, too; whole + 1 where all
/// of it is not enough.
template <class Enough>
[[nodiscard]] constexpr std::size_t fewest_parts(std::size_t whole, Enough enough) {
    std::size_t low = 0;
    std::size_t high = whole + 1;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (enough(percent_of(middle, whole))) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/// The largest value of T that is not above a number, which is not NaN.
template <std::floating_point T>
[[nodiscard]] inline T largest_not_above(double number) noexcept {
    if constexpr (sizeof(T) < sizeof(double)) {
        const T nearest = smdebug::detail::nearest_float(number);
        return static_cast<double>(nearest) > number ? std::nextafter(nearest, -std::numeric_limits<T>::infinity())
                                                     : nearest;
    } else {
        return number;
    }
}

/// Whether elements of type T are active: two comparisons in T where it is a float, else in double.
template <class T>
class activity_test {
public:
    explicit activity_test(const active_range& range) noexcept;

    [[nodiscard]] bool operator()(T value) const noexcept;

private:
    using limit = std::conditional_t<std::same_as<T, float>, float, double>;
    static constexpr double infinity = std::numeric_limits<double>::infinity();
    static constexpr limit infinity_of_limit = std::numeric_limits<limit>::infinity();

    limit above_;
    limit last_;  // the largest value that is active
};

/// The two 16-bit floats are compared by keys, which are integers in the order of the numbers: nothing is converted.
/// The keys of NaN lie beyond those of the infinities.
template <class T>
requires std::same_as<T, float16> || std::same_as<T, bfloat16>
class activity_test<T> {
public:
    explicit activity_test(const active_range& range) noexcept
        : above_(key_not_above(range.above)),
          last_(key_not_above(range.below ? std::nextafter(*range.below, -infinity) : infinity)) {}

    [[nodiscard]] bool operator()(T value) const noexcept {
        const std::int16_t order = key(value);
        return (order > above_) & (order <= last_);
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    [[nodiscard]] static std::int16_t key(T value) noexcept {
        const auto bits = static_cast<std::int16_t>(value.bits);
        return static_cast<std::int16_t>(bits ^ ((bits >> 15) & 0x7FFF));
    }
    // That of the largest value that is not above a number; of the two zeros 0.0 has the larger key.
    [[nodiscard]] static std::int16_t key_not_above(double number) noexcept {
        const T nearest{number + 0.0};
        const int step = static_cast<double>(static_cast<float>(nearest)) > number ? 1 : 0;
        return static_cast<std::int16_t>(key(nearest) - step);
    }

    std::int16_t above_;
    std::int16_t last_;
};

/// Adds to counts[j] the active ones among rows of `width` elements.  Goes down a band of columns at a time: its
/// counters stay in the L1 cache, and rows are read in pieces of some KB.
template <class T>
void count_active(const T* rows, std::size_t row_count, std::size_t width, const activity_test<T>& active,
                  std::uint32_t* counts) {
    constexpr std::size_t band = 1024;
    constexpr std::size_t lanes = 32;  // a known number of steps: compilers vectorise these at any level
    const activity_test<T> test = active;
    std::array<std::uint32_t, band> held;  // aliases nothing
    for (std::size_t first = 0; first < width; first += band) {
        const std::size_t columns = std::min(band, width - first);
        std::copy_n(counts + first, columns, held.begin());
        const T* row = rows + first;
        for (std::size_t i = 0; i < row_count; ++i, row += width) {
            std::size_t j = 0;
            for (; j + lanes <= columns; j += lanes) {
                for (std::size_t k = 0; k < lanes; ++k) {
                    held[j + k] += test(row[j + k]) ? 1U : 0U;
                }
            }
            for (; j < columns; ++j) {
                held[j] += test(row[j]) ? 1U : 0U;
            }
        }
        std::copy_n(held.begin(), columns, counts + first);
    }
}

/// How many of the nodes have less than `needed` active samples; any number below `enough` where there are fewer than
/// that.  `elements` are samples times nodes, neither is 0, and samples fit into 32 bits.
template <class T>
[[nodiscard]] std::size_t inactive_nodes(std::span<const T> elements, layer_size layer, const active_range& range,
                                         std::size_t needed, std::size_t enough) {
    constexpr std::size_t short_row = 512;
    const activity_test<T> active{range};
    // Where rows are short, several make one.
    const std::size_t joined = std::clamp<std::size_t>(short_row / layer.nodes, 1, layer.samples);
    std::vector<std::uint32_t> counts(joined * layer.nodes);
    const T* at = elements.data();
    std::size_t left = layer.samples;
    std::size_t inactive = layer.nodes;
    for (std::size_t block = 4; left > 0; block *= 2) {
        const std::size_t rows = std::min(block, left / joined);
        const std::size_t samples = rows == 0 ? left : rows * joined;
        if (rows == 0) {
            count_active(at, left, layer.nodes, active, counts.data());
        } else {
            count_active(at, rows, joined * layer.nodes, active, counts.data());
        }
        at += samples * layer.nodes;
        left -= samples;
        for (std::size_t i = layer.nodes; i < counts.size(); ++i) {
            counts[i % layer.nodes] += std::exchange(counts[i], 0U);
        }
        const auto nodes = std::span{counts}.first(layer.nodes);
        inactive = static_cast<std::size_t>(
            std::count_if(nodes.begin(), nodes.end(), [&](std::uint32_t count) { return count < needed; }));
        if (inactive < enough) {  // there will not be more
            return inactive;
        }
    }
    return inactive;
}

/// Judges layers by one range and its thresholds.
struct layer_judge {
    active_range range = {};
    activity_thresholds thresholds = {};
    std::string_view state = "inactive";  ///< what a node is that is almost never active: "dead", "saturated"

    /// By the extrema alone: all values are active, or none is.  Nothing where they do not tell.
    /// A tensor whose shape is not known is taken to be a layer.
    [[nodiscard]] std::optional<finding> by_extrema(const auto& tensor) const {
        const auto high = tensor.reduction_value(reduction::max);
        if (high && *high <= range.above) {
            return by_none_active(tensor);
        }
        if (!high && high.failure().why == absence::wrong_dtype) {
            return finding{};
        }
        const auto low = tensor.reduction_value(reduction::min);
        if (low && range.below && *low >= *range.below) {
            return by_none_active(tensor);
        }
        const bool all = low && *low > range.above && (!range.below || (high && *high < *range.below));
        if (all && !(100 < thresholds.inactivity) && !(0 > thresholds.layer)) {
            return finding{};
        }
        return std::nullopt;
    }

    /// By the values: the full condition.  Not reals, no axes, or no values: nothing to say.
    /// Cost: one pass over the values at most; it ends as soon as enough nodes are seen to be active.
    [[nodiscard]] finding by_values(const auto& tensor, const tensor_value& values) const {
        const auto layer = layer_size_of(values.shape());
        if (!has_reals(values.type()) || !layer || layer->samples == 0 || layer->nodes == 0) {
            return {};
        }
        if (layer->samples > std::numeric_limits<std::uint32_t>::max()) {
            return tensor.note("it has too many samples to be judged: " + std::to_string(layer->samples));
        }
        const auto needed =
            fewest_parts(layer->samples, [&](double percent) { return !(percent < thresholds.inactivity); });
        const auto enough = fewest_parts(layer->nodes, [&](double percent) { return percent > thresholds.layer; });
        std::size_t inactive = 0;
        visit_reals(values, [&]<class T>(std::span<const T> elements) {
            inactive = detail::inactive_nodes(elements, *layer, range, needed, enough);
        });
        if (inactive < enough) {
            return {};
        }
        const double percent = percent_of(inactive, layer->nodes);
        return tensor.met(percent, thresholds.layer,
                          std::to_string(inactive) + " of " + std::to_string(layer->nodes) + " nodes (" +
                              short_text(percent) + " %) are " + std::string{state} + ", more than " +
                              short_text(thresholds.layer) + " %: active in less than " +
                              short_text(thresholds.inactivity) + " % of " + std::to_string(layer->samples) +
                              " samples");
    }

private:
    [[nodiscard]] std::optional<finding> by_none_active(const auto& tensor) const {
        const double inactive = 0 < thresholds.inactivity ? 100 : 0;
        if (!(inactive > thresholds.layer)) {
            return finding{};
        }
        if (const auto shape = tensor.shape(); shape && shape->empty()) {
            return finding{};
        }
        if (inactive == 0) {
            return std::nullopt;
        }
        return tensor.met(inactive, thresholds.layer,
                          "no value is active: all nodes are " + std::string{state} + ", more than " +
                              short_text(thresholds.layer) + " %");
    }
};

}  // namespace detail
}  // namespace rules
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/judge/impl/layer_activity.ipp>
#endif

#include <smdebug/rules/judge/impl/layer_activity.tpp>
