// What is exported of a run, how, and what became of it: the same for every format.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A tensor that an export leaves out.  Views are borrowed, for the call only.
struct left_out_tensor {
    step_number step = 0;  ///< as it is shown: see basic_trial::shown_step()
    std::string_view worker = {};
    std::string_view tensor = {};  ///< empty: all of the step's event file
    std::string why = {};          ///< a sentence that names it
    bool is_damaged = false;       ///< it cannot be read; else the format has no place for it
};

/// What is exported, and how.
struct export_options {
    tensor_selection which = {};
    /// An output that is there already is replaced, when the new one is whole: a file, or a folder that holds nothing but
    /// what such an export writes.  Else that is an error.
    bool replace = false;
    /// What the run is called in what is written; empty: what the trial calls it.
    std::string run_name = {};
    /// csv: the columns, by their names, as `smdebug stats --reductions` has them; empty: all 22.
    std::vector<std::string> reductions = {};
    /// csv: a row for each element instead.
    bool values = false;
    /// tensorboard: whole tensors instead of scalars and histograms.
    bool tensors = false;
    /// Called for each tensor that is left out, on the calling thread.
    std::function<void(const left_out_tensor&)> left_out = {};
    /// Progress by event files, and when to stop, which throws `stopped`; on one thread.
    walk_options how = {};
};

/// What was exported.
struct export_result {
    std::size_t tensors = 0;  ///< of steps and workers
    std::size_t files = 0;    ///< that were written
    std::uint64_t bytes = 0;  ///< of those
    std::size_t damaged = 0;  ///< left out, as they cannot be read; a whole event file counts as one
    std::size_t refused = 0;  ///< left out, as the format has no place for them
    std::size_t without_values =
        0;  ///< of which only reductions or shapes were saved, where the format has values alone
};

}  // namespace v1
}  // namespace smdebug
