// The bodies of <smdebug/rules/built_in/check_input_images.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/check_input_images.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void check_input_images::check() const {
    if (!(threshold_mean >= 0)) {
        throw value_error("check_input_images: threshold_mean is " + short_text(threshold_mean) +
                          "; it must be a number that is not below 0");
    }
    if (threshold_samples < 0) {
        throw value_error("check_input_images: threshold_samples is " + std::to_string(threshold_samples) +
                          "; it must not be below 0");
    }
    if (channel < 0) {
        throw value_error("check_input_images: channel is " + std::to_string(channel) +
                          "; it must be an axis, counted from 0");
    }
    if (regex.empty()) {
        throw insufficient_information_for_rule_invocation{"check_input_images", "regex names no tensors"};
    }
}

SMDEBUG_INLINE std::size_t check_input_images::channels_of(const shape_type& shape) const noexcept {
    const bool has_axis = shape.size() >= 3 && channel >= 0 && static_cast<std::size_t>(channel) < shape.size();
    return has_axis ? shape[static_cast<std::size_t>(channel)] : 1;
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
