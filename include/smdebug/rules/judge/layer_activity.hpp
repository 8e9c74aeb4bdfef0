// Whether too many nodes of a layer are (almost) never active.
// Source: the public descriptions of SageMaker Debugger's rules DeadRelu and SaturatedActivation.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/reduce/element_walks.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/lookup.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::rules::detail {

using reduce::detail::active_range;
using reduce::detail::layer_size;

/// When a layer is inactive: more than `layer` percent of its nodes are active in less than `inactivity` percent of
/// the samples.
struct activity_thresholds {
    double inactivity = 1;
    double layer = 50;

    /// Errors: value_error if one is not a percentage, with the names of the rules' settings.
    void check(std::string_view rule) const;

    [[nodiscard]] friend bool operator==(const activity_thresholds&, const activity_thresholds&) = default;
};

/// The number of leading axes that count samples; a node is a position in the other axes.
/// Decision: the public description leaves this open; axis 0 is the batch, and each position is a separate node.
inline constexpr std::size_t batch_axes = 1;

/// A tensor with only batch axes is one sample; one without axes is not a layer.
[[nodiscard]] constexpr std::optional<layer_size> layer_size_of(std::span<const std::size_t> extents) noexcept {
    if (extents.empty()) {
        return std::nullopt;
    }
    const std::size_t axes = extents.size() > batch_axes ? batch_axes : 0;
    return layer_size{element_count(extents.first(axes)).value_or(0), element_count(extents.subspan(axes)).value_or(0)};
}

/// The smallest number of parts of a whole for whose percentage enough(percentage) holds, as it does for all larger
/// numbers; whole + 1 if it does not hold for the whole.
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

/// The counts for a layer.
struct counted_nodes {
    layer_size layer = {};     ///< without samples there are no reals, no axes, or no values
    std::size_t inactive = 0;  ///< nodes; any number below `enough` if there are fewer
    std::size_t enough = 0;    ///< this number makes the layer inactive
};

/// The measure that counts the inactive nodes of a layer.
/// Cost: one pass over the values at most; it ends as soon as enough nodes are seen to be active.
struct inactive_node_count {
    active_range range = {};
    activity_thresholds thresholds = {};

    static constexpr std::size_t most_samples = std::numeric_limits<std::uint32_t>::max();

    [[nodiscard]] counted_nodes operator()(const tensor_view& values) const;
    [[nodiscard]] friend bool operator==(const inactive_node_count&, const inactive_node_count&) = default;
};

/// Judges layers by one range and its thresholds.
struct layer_judge {
    active_range range = {};
    activity_thresholds thresholds = {};
    std::string_view state = "inactive";  ///< what a node is called that is almost never active: "dead", "saturated"

    /// By the extrema alone: all values are active, or none is.  Nothing if they do not decide.
    /// A tensor of unknown shape is assumed to be a layer.
    [[nodiscard]] std::optional<finding> by_extrema(const auto& tensor) const {
        const auto high = tensor.reduction_value(reduction::max);
        if (high && *high <= range.above) {
            return by_none_active(tensor);
        }
        if (!high && high.error().why == lookup_failure_kind::wrong_dtype) {
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

    /// The measure that counts the nodes by the values.
    [[nodiscard]] inactive_node_count measure() const { return {range, thresholds}; }

    /// By the values: the full condition.  Nothing if there are no reals, no axes, or no values.
    [[nodiscard]] finding by_count(const auto& tensor, const counted_nodes& counted) const {
        const auto [samples, nodes] = counted.layer;
        if (samples == 0) {
            return {};
        }
        if (samples > inactive_node_count::most_samples) {
            return tensor.note("it has too many samples to be judged: " + std::to_string(samples));
        }
        if (counted.inactive < counted.enough) {
            return {};
        }
        const double percent = percent_of(counted.inactive, nodes);
        return tensor.met(percent, thresholds.layer,
                          std::to_string(counted.inactive) + " of " + std::to_string(nodes) + " nodes (" +
                              short_text(percent) + "%) are " + std::string{state} + ", more than " +
                              short_text(thresholds.layer) + "%: active in less than " +
                              short_text(thresholds.inactivity) + "% of " + std::to_string(samples) + " samples");
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
                              short_text(thresholds.layer) + "%");
    }
};

inline void activity_thresholds::check(std::string_view rule) const {
    check_range(rule, "threshold_inactivity", inactivity, {.most = 100});
    check_range(rule, "threshold_layer", layer, {.most = 100});
}

inline counted_nodes inactive_node_count::operator()(const tensor_view& values) const {
    const auto layer = layer_size_of(values.shape);
    if (!has_reals(values.type) || !layer || layer->samples == 0 || layer->nodes == 0) {
        return {};
    }
    counted_nodes counted{.layer = *layer};
    if (layer->samples > most_samples) {
        return counted;
    }
    const auto needed =
        fewest_parts(layer->samples, [&](double percent) { return !(percent < thresholds.inactivity); });
    counted.enough = fewest_parts(layer->nodes, [&](double percent) { return percent > thresholds.layer; });
    counted.inactive = reduce::detail::inactive_nodes(values, *layer, range, needed, counted.enough);
    return counted;
}

}  // namespace smdebug::inline v1::rules::detail
#include <smdebug/core/strict_math/end.ipp>
