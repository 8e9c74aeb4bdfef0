// What `smdebug ls` prints of the tensors of a run: dtype, shape, number of steps, saved reductions.
// All at once: tensor by tensor, each would cost a pass over every step, and a read.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// What ls prints of a tensor.
struct tensor_summary {
    std::string name;
    dtype type = dtype::invalid;           ///< the first readable value's; invalid if there is none
    std::optional<shape_type> shape = {};  ///< that value's, else the first saved one
    std::size_t steps = 0;                 ///< complete ones
    reduction_set saved = {};              ///< reductions, at any step
};

/// What could not be read, as event files are missing.
struct missing_values {
    std::size_t tensors = 0;      ///< that have values, of which none could be read
    std::size_t files = 0;        ///< missing ones, of the files looked for
    std::string first_file = {};  ///< its key
};

/// Summarizes all tensors of a run, sorted by name.  Damaged values are skipped.
/// `progress` is called with how many values were read, and how many tensors there are.
/// `missing`: null, or receives what could not be read.
/// Cost: that of first_value_reader, a pass over the files, and one over their distinct layouts.
[[nodiscard]] std::vector<tensor_summary> summarize(const smdebug::detail::trial_state& state,
                                                    const smdebug::detail::catalog& from,
                                                    function_ref<void(std::size_t read, std::size_t all)> progress,
                                                    missing_values* missing = nullptr);

}  // namespace smdebug::inline v1::cli::detail
