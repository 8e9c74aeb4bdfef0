// What is exported of a run, how, and the result: the same for every format.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// A tensor that an export leaves out.  Views are valid during the call only.
struct left_out_tensor {
    step_number step = 0;  ///< as displayed: see trial::shown_step()
    std::string_view worker = {};
    std::string_view tensor = {};  ///< all of the step's event file if empty
    std::string why = {};          ///< a sentence that names it
    bool is_damaged = false;       ///< it cannot be read; if false, the format cannot represent it
};

/// What is exported, and how.
struct export_options {
    tensor_selection which = {};
    /// Replaces an existing output once the new one is complete: a file, or a folder that holds only files of such an
    /// export.  Otherwise an existing output is an error.
    bool replace = false;
    /// The run's name in the output; the trial's name of it if empty.
    std::string run_name = {};
    /// The columns of csv, by their names as `smdebug stats --reductions` has them; all 22 if empty.
    std::vector<std::string> reductions = {};
    /// csv: a row for each element instead of each tensor.
    bool values = false;
    /// tensorboard: whole tensors instead of scalars and histograms.
    bool tensors = false;
    /// Called for each tensor that is left out, on the calling thread.
    std::function<void(const left_out_tensor&)> left_out = {};
    /// Reports progress by event files, and stops by throwing `stopped_error`; called on one thread.
    walk_options how = {};
};

/// What was exported.
struct export_result {
    std::size_t tensors = 0;  ///< of steps and workers
    std::size_t files = 0;    ///< files written
    std::uint64_t bytes = 0;  ///< the total size of these files
    std::size_t damaged = 0;  ///< left out because unreadable; a whole event file counts as one
    std::size_t refused = 0;  ///< left out because the format cannot represent them
    std::size_t without_values =
        0;  ///< left out because only reductions or shapes were saved, and the format holds values only
};

}  // namespace smdebug::inline v1
