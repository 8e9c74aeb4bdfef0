// The bodies of <smdebug/rules/judge/layer_activity.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/rules/judge/layer_activity.hpp>

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

}  // namespace detail
}  // namespace rules
}  // namespace v1
}  // namespace smdebug
