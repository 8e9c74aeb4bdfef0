// Which steps of the modes a run has, and as which steps of the job: a mode's step is written once.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/save_config.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The steps that a worker has written.
/// Cost: 16 bytes a step; nothing to speak of while numbers ascend, else a search.
class written_steps {
    struct entry {
        step_number in_mode = 0;
        step_number global = 0;
    };

    [[nodiscard]] std::vector<entry>& of(mode which) { return by_mode_[place_of(which)]; }
    template <class Steps>
    [[nodiscard]] static auto place_in(Steps& steps, step_number in_mode) {
        if (steps.empty() || steps.back().in_mode < in_mode) {
            return steps.end();
        }
        return std::lower_bound(steps.begin(), steps.end(), in_mode,
                                [](const entry& one, step_number number) { return one.in_mode < number; });
    }

public:
    /// Notes a step; one that had the same number in the job is replaced.
    void add(mode which, step_number in_mode, step_number global);

    /// Forgets the step of that number in the job.
    void forget(step_number global);

    /// As which step of the job this one of a mode was written.
    [[nodiscard]] std::optional<step_number> global_of(mode which, step_number in_mode) const;

    /// The largest number of a mode's steps.
    [[nodiscard]] std::optional<step_number> last(mode which) const;

private:
    std::array<std::vector<entry>, all_modes.size()> by_mode_;  // ascending by the mode's numbers
    step_number last_ = -1;                                     // the largest global number
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/written_steps.ipp>
#endif
