// The bodies of <smdebug/rules/built_in/saturated_activation.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/built_in/saturated_activation.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void saturated_activation::check() const {
    if (collection_names.empty() && tensor_regex.empty()) {
        throw insufficient_information_for_rule_invocation(std::string{name()},
                                                           "one of collection_names and tensor_regex is needed");
    }
    check_limits("tanh", threshold_tanh_min, threshold_tanh_max);
    check_limits("sigmoid", threshold_sigmoid_min, threshold_sigmoid_max);
    detail::activity_thresholds{threshold_inactivity, threshold_layer}.check();
}

SMDEBUG_INLINE std::optional<detail::active_range> saturated_activation::range_of(std::string_view tensor) const {
    if (tensor.find("tanh") != std::string_view::npos) {
        return detail::active_range{threshold_tanh_min, threshold_tanh_max};
    }
    if (tensor.find("sigmoid") != std::string_view::npos) {
        return detail::active_range{threshold_sigmoid_min, threshold_sigmoid_max};
    }
    return std::nullopt;
}

SMDEBUG_INLINE void saturated_activation::check_limits(const std::string& what, double low, double high) {
    if (!(low < high)) {
        throw value_error("threshold_" + what + "_min is " + short_text(low) + ", which is not below threshold_" +
                          what + "_max, " + short_text(high));
    }
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
