// What `smdebug ls` prints of the tensors of a run: dtype, shape, number of steps, saved reductions.
// All of them together: tensor by tensor each would cost a look at every step, and a read.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/trial_state.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What ls prints of a tensor.
struct tensor_summary {
    std::string name;
    dtype type = dtype::invalid;           ///< of the first value that can be read; invalid: there is none
    std::optional<shape_type> shape = {};  ///< of that value, else the first that was saved
    std::size_t steps = 0;                 ///< complete ones
    reduction_set saved = {};              ///< reductions, at any step
};

/// What could not be looked at, as event files are missing.
struct missing_values {
    std::size_t tensors = 0;      ///< that have values, of which none could be read
    std::size_t files = 0;        ///< missing ones, of those that were looked for
    std::string first_file = {};  ///< its key
};

/// Looks at all tensors of a run, sorted by name.  Values that are damaged are passed over.
/// `progress` is called with how many values were read, and how many tensors there are.
/// `missing`: null, or where to put what could not be looked at.
/// Cost: that of first_values, a pass over the files, and one over their distinct layouts.
[[nodiscard]] std::vector<tensor_summary> summarize(const smdebug::detail::trial_state& state,
                                                    const smdebug::detail::catalog& from,
                                                    function_ref<void(std::size_t read, std::size_t all)> progress,
                                                    missing_values* missing = nullptr);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
