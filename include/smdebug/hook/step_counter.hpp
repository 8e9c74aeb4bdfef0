// Which step a training is at: the job's, and that of its mode.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/observer.hpp>

#include <array>
#include <map>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Counts steps as the Python package does: one count for the job, whose steps GLOBAL counts too, and one for each of
/// the other modes, which goes on when that mode comes back.
class step_counter {
public:
    step_counter() = default;
    /// Begins at a step of the job, with the next steps of the modes; of those that are not named with 0.
    step_counter(step_number first, const std::map<mode, step_number>& of_modes);

    [[nodiscard]] const hook_step& now() const noexcept { return now_; }

    /// Returns whether that is another mode.
    bool set_mode(mode which) noexcept;

    /// Sets the number of the step, and of the mode's step if given; in GLOBAL it is the same if not given.
    /// Errors: value_error for a negative number, or one above largest_step.
    void set_step(step_number global, std::optional<step_number> in_mode);

    /// Goes on to the next step, in the same mode.
    void advance() noexcept;

private:
    hook_step now_;
    std::array<step_number, 3> next_{};  // of TRAIN, EVAL, PREDICT
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/step_counter.ipp>
#endif
