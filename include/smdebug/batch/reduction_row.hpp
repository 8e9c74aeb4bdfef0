// A tensor's reductions as a row of results: what reduced_tensor says, in texts and numbers of its own.
#pragma once

#include <smdebug/core/step.hpp>
#include <smdebug/reduce/concepts.hpp>

#include <optional>
#include <string>

namespace smdebug {
inline namespace v1 {

/// What one worker saved of one tensor at one step, reduced.  Owns its texts, so that threads may fill in rows that
/// another one writes.
struct reduction_row {
    step_number step = 0;       ///< as it is shown: see basic_trial::shown_step()
    step_number mode_step = 0;  ///< the same step, counted in its mode
    smdebug::mode mode = smdebug::mode::global;
    std::string worker = {};
    std::string name = {};
    std::string dtype = {};                 ///< numpy's name of it, as name_of(); empty: there are no values
    std::optional<std::string> shape = {};  ///< "2x3", as shape_text(); "": a 0-d tensor; nothing: not known
    /// Which there are is what `computed` says; `count` counts where dtype is not empty.
    reduction_values reductions = {};
};

}  // namespace v1
}  // namespace smdebug
