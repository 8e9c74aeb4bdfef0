// The bodies of <smdebug/rules/drive/rule_drive.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/rules/drive/rule_drive.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void end_rule(driven_rule& each, invoke_end why, step_number next_step) {
    if (!each.over) {
        each.over = true;
        each.outcome.end = why;
        each.outcome.next_step = next_step;
    }
}

SMDEBUG_INLINE bool hand_over(driven_rule& each, std::vector<finding> found, step_number step, bool first_only) {
    bool met = false;
    for (finding& one : found) {
        if (met && one.met && first_only) {
            continue;
        }
        const auto& callback = one.met ? each.listener.on_finding : each.listener.on_note;
        if (callback) {
            callback(step, one);
        }
        if (one.met) {
            met = true;
            each.outcome.findings.push_back(std::move(one));
        }
    }
    if (met) {
        each.outcome.met_at.push_back(step);
    }
    return met;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
