// Which step a training is at: the job's, and that of its mode.
// Used by: hook (hook_core).
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>
#include <smdebug/hook/save_config.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {

/// Counts steps as the Python package does: one count for the job, whose steps GLOBAL counts too, and one for each of
/// the other modes, which goes on when that mode comes back.
class step_counter {
public:
    step_counter() = default;
    /// Begins at a step of the job, with the next steps of the modes; of those that are not named with 0.
    step_counter(step_number first, const std::map<mode, step_number>& of_modes) {
        for (const auto& [which, next] : of_modes) {
            if (which != mode::global) {
                next_[place_of(which)] = next;
            }
        }
        now_ = {.step = first, .mode = mode::global, .mode_step = first};
    }

    [[nodiscard]] const hook_step& now() const noexcept { return now_; }

    /// Returns whether that is another mode.
    bool set_mode(mode which) noexcept {
        const bool other = which != now_.mode;
        if (other) {
            now_.mode = which;
            now_.mode_step = which == mode::global ? now_.step : next_[place_of(which)];
        }
        return other;
    }

    /// Sets the number of the step, and of the mode's step if given; in GLOBAL it is the same if not given.
    /// Errors: value_error for a negative number, or one above largest_step.
    void set_step(step_number global, std::optional<step_number> in_mode) {
        for (const step_number number : {global, in_mode.value_or(0)}) {
            if (number < 0 || number > largest_step) {
                throw value_error("a step has the number " + std::to_string(number) +
                                  ": steps are counted from 0 up to " + std::to_string(largest_step));
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

    /// Goes on to the next step, in the same mode.
    void advance() noexcept {
        ++now_.step;
        if (now_.mode == mode::global) {
            now_.mode_step = now_.step;
        } else {
            next_[place_of(now_.mode)] = ++now_.mode_step;
        }
    }

private:
    hook_step now_;
    std::array<step_number, 3> next_{};  // of TRAIN, EVAL, PREDICT
};

}  // namespace v1
}  // namespace smdebug
