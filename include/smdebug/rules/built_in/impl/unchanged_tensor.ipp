// The bodies of <smdebug/rules/built_in/unchanged_tensor.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/unchanged_tensor.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void unchanged_tensor::check() const {
    if (collection_names.empty() && tensor_regex.empty()) {
        throw insufficient_information_for_rule_invocation(std::string{name()},
                                                           "collection_names or tensor_regex is needed");
    }
    if (num_steps < 2) {
        throw value_error("unchanged_tensor: num_steps is " + std::to_string(num_steps) + "; it must be at least 2");
    }
    detail::check_tolerance(name(), {rtol, atol, equal_nan});
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
