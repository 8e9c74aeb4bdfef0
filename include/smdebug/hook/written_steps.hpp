// Which steps of the modes a run has, and as which steps of the job: a mode's step is written once.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/save_config.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The steps that a worker has written.
/// Kept as rows of steps at equal distances, as a training that runs for weeks saves them.
/// Cost: 40 bytes a row: a few of them where steps are saved at an interval, and one more each time the mode changes.
/// Nothing to speak of while numbers ascend, else a search.
class written_steps {
    /// `count` steps, the i-th of them in_mode + i * mode_stride of the mode and global + i * global_stride of the job.
    struct row {
        step_number in_mode = 0;
        step_number global = 0;
        step_number mode_stride = 1;    // above 0
        step_number global_stride = 1;  // not 0
        step_number count = 1;

        [[nodiscard]] row from(step_number place) const;
        [[nodiscard]] step_number last() const { return in_mode + (count - 1) * mode_stride; }
        [[nodiscard]] bool goes_on_with(step_number next_in_mode, step_number next_global) const;
    };
    using rows = std::vector<row>;

    /// The first row that ends at this step of a mode or behind it.
    template <class Rows>
    [[nodiscard]] static auto row_of(Rows& steps, step_number in_mode) {
        return std::lower_bound(steps.begin(), steps.end(), in_mode,
                                [](const row& one, step_number number) { return one.last() < number; });
    }

    /// Makes two rows of one: its first `place` steps, and the others.  Returns the row of the others.
    static rows::iterator split(rows& steps, rows::iterator where, step_number place);
    /// Takes one step out of a row.
    static void erase(rows& steps, rows::iterator where, step_number place);

public:
    /// Notes a step; one that had the same number in the job is replaced.
    void add(mode which, step_number in_mode, step_number global);

    /// Forgets the step of that number in the job.
    void forget(step_number global);

    /// As which step of the job this one of a mode was written.
    [[nodiscard]] std::optional<step_number> global_of(mode which, step_number in_mode) const;

    /// The largest number of a mode's steps.
    [[nodiscard]] std::optional<step_number> last(mode which) const;

    /// Of how many rows the steps are kept: what memory they take.
    [[nodiscard]] std::size_t row_count() const;

private:
    std::array<rows, all_modes.size()> by_mode_;  // ascending by the mode's numbers; no row reaches into another
    step_number last_ = -1;                       // the largest global number
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/written_steps.ipp>
#endif
