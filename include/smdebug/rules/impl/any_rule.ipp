// The bodies of <smdebug/rules/any_rule.hpp>.
#pragma once

#include <smdebug/rules/any_rule.hpp>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::vector<finding> without_silent(std::vector<finding> all) {
    std::erase_if(all, [](const finding& one) { return !one.met && one.message.empty(); });
    return all;
}

SMDEBUG_INLINE bool means_skip(const not_found& missing) noexcept {
    switch (missing.code()) {
        case error_code::tensor_unavailable:
        case error_code::tensor_unavailable_for_step:
        case error_code::step_unavailable:
        case error_code::no_more_data:
            return true;
        default:
            return false;
    }
}

}  // namespace smdebug::inline v1::detail
