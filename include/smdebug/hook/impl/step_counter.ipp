// The bodies of <smdebug/hook/step_counter.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/hook/step_counter.hpp>

#include <string>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE step_counter::step_counter(step_number first, const std::map<mode, step_number>& of_modes) {
    for (const auto& [which, next] : of_modes) {
        if (which != mode::global) {
            next_[place_of(which)] = next;
        }
    }
    now_ = {.step = first, .mode = mode::global, .mode_step = first};
}

SMDEBUG_INLINE bool step_counter::set_mode(mode which) noexcept {
    const bool other = which != now_.mode;
    if (other) {
        now_.mode = which;
        now_.mode_step = which == mode::global ? now_.step : next_[place_of(which)];
    }
    return other;
}

SMDEBUG_INLINE void step_counter::set_step(step_number global, std::optional<step_number> in_mode) {
    for (const step_number number : {global, in_mode.value_or(0)}) {
        if (number < 0 || number > largest_step) {
            throw value_error("a step has the number " + std::to_string(number) + ": steps are counted from 0 up to " +
                              std::to_string(largest_step));
        }
    }
    now_.step = global;
    if (now_.mode == mode::global) {
        now_.mode_step = in_mode.value_or(global);
    } else if (in_mode) {
        now_.mode_step = *in_mode;
        next_[place_of(now_.mode)] = *in_mode;
    }
}

SMDEBUG_INLINE void step_counter::advance() noexcept {
    ++now_.step;
    if (now_.mode == mode::global) {
        now_.mode_step = now_.step;
    } else {
        next_[place_of(now_.mode)] = ++now_.mode_step;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
