// The bodies of <smdebug/rules/judge/layer_activity.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/judge/layer_activity.hpp>
#include <smdebug/tensor/reals.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

SMDEBUG_INLINE void activity_thresholds::check() const {
    check("threshold_inactivity", inactivity);
    check("threshold_layer", layer);
}

SMDEBUG_INLINE void activity_thresholds::check(const std::string& name, double percent) {
    if (!(percent >= 0 && percent <= 100)) {
        throw value_error(name + " is " + short_text(percent) + ", which is not from 0 to 100");
    }
}

SMDEBUG_INLINE counted_nodes inactive_node_count::operator()(const tensor_view& values) const {
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

}  // namespace detail
}  // namespace rules
}  // namespace v1
}  // namespace smdebug
