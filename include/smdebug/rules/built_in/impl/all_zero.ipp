// The bodies of <smdebug/rules/built_in/all_zero.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/all_zero.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {

SMDEBUG_INLINE void all_zero::check() const {
    if (collection_names.empty() && tensor_regex.empty()) {
        throw insufficient_information_for_rule_invocation(std::string{name()},
                                                           "one of collection_names and tensor_regex is needed");
    }
    if (!(threshold >= 0 && threshold <= 100)) {
        throw value_error("threshold is " + short_text(threshold) + ", which is not from 0 to 100");
    }
}

}  // namespace rules
}  // namespace v1
}  // namespace smdebug
