// The global step of each (mode, mode step) already written; each pair is written at most once.
// step_counter: the numbers of the current step.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/observer.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace smdebug::inline v1::detail {

/// The steps that a worker has written.
/// Kept as rows of equidistant steps, since a training that runs for weeks saves at an interval.
/// Cost: 40 bytes a row: a few rows if steps are saved at an interval, and one more each time the mode changes.
///       Constant time while numbers ascend, else a search.
class written_steps {
    /// `count` steps: the i-th is in_mode + i * mode_stride in the mode; its global step is global + i * global_stride.
    struct row {
        step_number in_mode = 0;
        step_number global = 0;
        step_number mode_stride = 1;    // above 0
        step_number global_stride = 1;  // not 0
        step_number count = 1;

        [[nodiscard]] row from(step_number place) const;
        [[nodiscard]] step_number last() const { return in_mode + (count - 1) * mode_stride; }
        [[nodiscard]] bool continues_with(step_number next_in_mode, step_number next_global) const;
    };
    using rows = std::vector<row>;

    /// The first row that ends at or after this step of a mode.
    template <class Rows>
    [[nodiscard]] static auto row_of(Rows& steps, step_number in_mode) {
        return std::lower_bound(steps.begin(), steps.end(), in_mode,
                                [](const row& one, step_number number) { return one.last() < number; });
    }

    /// Splits a row after its first `place` steps.  Returns the row of the others.
    static rows::iterator split(rows& steps, rows::iterator where, step_number place);
    /// Removes one step from a row.
    static void erase(rows& steps, rows::iterator where, step_number place);

public:
    /// Adds a step; replaces one that had the same global step.
    void add(mode which, step_number in_mode, step_number global);

    /// Removes the step with that global step.
    void forget(step_number global);

    /// The global step of this step of a mode.
    [[nodiscard]] std::optional<step_number> global_of(mode which, step_number in_mode) const;

    /// The largest step number of a mode.
    [[nodiscard]] std::optional<step_number> last(mode which) const;

    /// The number of rows, which determines the memory used.
    [[nodiscard]] std::size_t row_count() const;

private:
    std::array<rows, all_modes.size()> by_mode_;  // ascending by the mode's numbers, without overlap
    step_number last_ = -1;                       // the largest global number
};

/// Counts steps as the Python package does: one count for the job, which also counts GLOBAL steps, and one for each
/// other mode, which continues when that mode comes back.
class step_counter {
public:
    step_counter() = default;
    /// Begins at a global step, with the next steps of the modes; modes not listed begin at 0.
    step_counter(step_number first, const std::map<mode, step_number>& of_modes);

    [[nodiscard]] const hook_step& now() const noexcept { return now_; }

    /// Returns whether the mode changed.
    bool set_mode(mode which) noexcept;

    /// Sets the number of the step, and of the mode's step if given; in GLOBAL the latter defaults to the same.
    /// Errors: value_error for a negative number, or one above largest_step.
    void set_step(step_number global, std::optional<step_number> in_mode);

    /// Goes on to the next step, in the same mode.
    void advance() noexcept;

private:
    hook_step now_;
    std::array<step_number, 3> next_{};  // of TRAIN, EVAL, PREDICT
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/written_steps.ipp>
#endif
