// The bodies of <smdebug/rules/any_rule.hpp>.
#pragma once

#include <smdebug/rules/any_rule.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::vector<finding> without_silent(std::vector<finding> all) {
    std::erase_if(all, [](const finding& one) { return !one.met && one.message.empty(); });
    return all;
}

SMDEBUG_INLINE bool means_skip(const not_found& missing) noexcept {
    return dynamic_cast<const tensor_unavailable*>(&missing) != nullptr ||
           dynamic_cast<const tensor_unavailable_for_step*>(&missing) != nullptr ||
           dynamic_cast<const step_unavailable*>(&missing) != nullptr ||
           dynamic_cast<const no_more_data*>(&missing) != nullptr;
}

}  // namespace smdebug::inline v1::detail
