// The bodies of <smdebug/hook/save_config.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/save_config.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE save_config_mode save_config::in(mode which) const {
    const auto own = modes.find(which);
    return own != modes.end() ? own->second
                              : save_config_mode{.save_interval = save_interval,
                                                 .save_steps = save_steps,
                                                 .start_step = start_step,
                                                 .end_step = end_step};
}

SMDEBUG_INLINE save_config::operator std::map<mode, save_config_mode>() const {  // NOLINT: implicit
    std::map<mode, save_config_mode> all;
    for (const mode which : all_modes) {
        all.emplace(which, in(which));
    }
    return all;
}

SMDEBUG_INLINE bool is_due(const save_config_mode& when, step_number mode_step) {
    return (when.save_interval > 0 && mode_step >= when.start_step.value_or(0) &&
            (!when.end_step || mode_step < *when.end_step) && mode_step % when.save_interval == 0) ||
           std::find(when.save_steps.begin(), when.save_steps.end(), mode_step) != when.save_steps.end();
}

SMDEBUG_INLINE void check(const save_config_mode& when, const std::string& where) {
    const auto refuse = [&](const std::string& field, step_number value, const std::string& why) {
        throw value_error(where + "." + field + " is " + std::to_string(value) + ": " + why);
    };
    if (when.save_interval < 1) {
        refuse("save_interval", when.save_interval, "it must be 1 or more");
    }
    for (const step_number step : when.save_steps) {
        if (step < 0) {
            refuse("save_steps", step, "steps are counted from 0");
        }
    }
    if (when.start_step && *when.start_step < 0) {
        refuse("start_step", *when.start_step, "steps are counted from 0");
    }
    if (when.end_step && *when.end_step < 0) {
        refuse("end_step", *when.end_step, "steps are counted from 0; leave it out to go on to the end");
    }
}

SMDEBUG_INLINE void check(const std::map<mode, save_config_mode>& config, const std::string& where) {
    for (const auto& [which, when] : config) {
        check(when, where + "[" + std::string{name_of(which)} + "]");
    }
}

SMDEBUG_INLINE void check(const save_config& config, const std::string& where) {
    check(save_config_mode{.save_interval = config.save_interval,
                           .save_steps = config.save_steps,
                           .start_step = config.start_step,
                           .end_step = config.end_step},
          where);
    check(config.modes, where + ".modes");
}

}  // namespace v1
}  // namespace smdebug
