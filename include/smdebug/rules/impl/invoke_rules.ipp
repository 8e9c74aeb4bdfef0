// The bodies of <smdebug/rules/invoke_rules.hpp>.
#pragma once

#include <smdebug/rules/invoke_rules.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE drive_listener listener_of(const invoke_rules_options& options) {
    const auto without_step = [](const auto& tell) {
        return [&tell](std::size_t rule, step_number, const finding& one) {
            if (tell) {
                tell(rule, one);
            }
        };
    };
    return {.on_step = options.on_step,
            .on_finding = without_step(options.on_finding),
            .on_note = without_step(options.on_note),
            .on_skip = options.on_skip};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
