// The bodies of <smdebug/rules/drive/rule_drive.hpp>.
#pragma once

#include <smdebug/rules/drive/rule_drive.hpp>
#include <smdebug/trial/shared/step_cache.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE drive_listener listener_of(const invoke_options& options) {
    const auto without_place = [](const auto& tell) {
        return [&tell](std::size_t, step_number step, const auto& what) {
            if (tell) {
                tell(step, what);
            }
        };
    };
    return {.on_finding = without_place(options.on_finding),
            .on_note = without_place(options.on_note),
            .on_skip = without_place(options.on_skip)};
}

SMDEBUG_INLINE void rule_progress::end(invoke_end why, step_number next_step) {
    if (!over) {
        over = true;
        outcome.end = why;
        outcome.next_step = next_step;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
