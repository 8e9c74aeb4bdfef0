// The bodies of <smdebug/rules/built_in/dead_relu.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/dead_relu.hpp>

#include <string>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void dead_relu::check() const {
    if (tensor_regex.empty()) {
        throw insufficient_information_for_rule_invocation(std::string{name()}, "tensor_regex is empty");
    }
    detail::activity_thresholds{threshold_inactivity, threshold_layer}.check();
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
