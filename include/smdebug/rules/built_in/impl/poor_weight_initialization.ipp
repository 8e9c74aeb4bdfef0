// The bodies of <smdebug/rules/built_in/poor_weight_initialization.hpp>.
#pragma once

#include <smdebug/rules/built_in/poor_weight_initialization.hpp>

#include <utility>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void poor_weight_initialization::check() const {
    check_at_least("threshold", threshold, 0);
    check_at_least("distribution_range", distribution_range, 0);
    check_at_least("patience", static_cast<double>(patience), 1);
    check_at_least("steps", steps, 1);
}

SMDEBUG_INLINE void poor_weight_initialization::check_at_least(const std::string& what, double value, double least) {
    if (!(value >= least)) {
        throw value_error(what + " is " + short_text(value) + ", which is not a number from " + short_text(least) +
                          " on");
    }
}

SMDEBUG_INLINE finding poor_weight_initialization::met(const measured& what, double value, double limit,
                                                       std::string message) {
    return {.met = true,
            .tensor = what.tensor,
            .worker = what.worker,
            .value = value,
            .threshold = limit,
            .message = std::move(message)};
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
