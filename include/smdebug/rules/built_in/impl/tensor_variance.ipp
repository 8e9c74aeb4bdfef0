// The bodies of <smdebug/rules/built_in/tensor_variance.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/tensor_variance.hpp>

#include <cmath>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void tensor_variance::check() const {
    if (collection_names.empty() && tensor_regex.empty()) {
        throw insufficient_information_for_rule_invocation(std::string{name()},
                                                           "one of collection_names and tensor_regex is needed");
    }
    if (!max_threshold && !min_threshold) {
        throw insufficient_information_for_rule_invocation(std::string{name()},
                                                           "one of max_threshold and min_threshold is needed");
    }
    if (max_threshold && std::isnan(*max_threshold)) {
        throw value_error("max_threshold is NaN, which is no number");
    }
    if (min_threshold && std::isnan(*min_threshold)) {
        throw value_error("min_threshold is NaN, which is no number");
    }
    if (max_threshold && min_threshold && *min_threshold > *max_threshold) {
        throw value_error("min_threshold is " + short_text(*min_threshold) + ", which is above max_threshold, " +
                          short_text(*max_threshold));
    }
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
