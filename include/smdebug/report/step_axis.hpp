// The steps of a run as the pictures of a report have them: by mode, and where there are many, some of them together.
// What a picture shows of steps that are together is the smallest and the largest, so that none of them is lost.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace report {
namespace detail {

/// A step, and its number in its mode.
struct axis_step {
    step_number step = 0;
    step_number mode_step = 0;
    smdebug::mode mode = smdebug::mode::global;
    std::optional<step_number> shown = {};  ///< its number in pictures; unset: the global one
};

/// Steps of one mode that are shown together.
struct step_bucket {
    step_number first = 0;  ///< as it is shown
    step_number last = 0;
    step_number mode_step = 0;  ///< of the first
    std::uint32_t count = 0;    ///< of steps
};

/// The steps of one mode, ascending.
struct step_axis {
    smdebug::mode mode = smdebug::mode::global;
    std::size_t steps = 0;
    std::vector<step_bucket> buckets = {};
};

/// Where a step is shown.
struct axis_place {
    std::uint32_t axis = 0;
    std::uint32_t bucket = 0;
};

/// The axes of one run: a mode each, those without steps left out.
class step_axes {
public:
    step_axes() = default;
    /// `steps` ascend; at most `most_buckets` (at least 1) for each mode, of as equal numbers of steps as can be.
    step_axes(const std::vector<axis_step>& steps, std::size_t most_buckets);

    [[nodiscard]] const std::vector<step_axis>& all() const noexcept { return axes_; }
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

    /// Nothing for a step that was not there.  Cost: a binary search; none where it is asked about the same step again.
    [[nodiscard]] std::optional<axis_place> place_of(step_number step);

    /// About so many steps, evenly over each axis, first and last among them; ascending.
    [[nodiscard]] std::vector<step_number> some(std::size_t count) const;

private:
    struct place {
        step_number step = 0;
        axis_place where;
    };

    std::vector<step_axis> axes_;
    std::vector<place> places_;  // by step
    std::size_t last_ = 0;       // asked for
};

}  // namespace detail
}  // namespace report
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/report/impl/step_axis.ipp>
#endif
