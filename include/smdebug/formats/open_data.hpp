// Opening whatever lies at a path as a run: runs of the Python package, with or without their index, TensorBoard's logs,
// checkpoints.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// What lies in a storage.  A run of the Python package is one by its index, or by collections files as long as at most one step
/// has event files, as a job writes them first; other event files below events/ make one of `event_files`; then come logs and
/// checkpoints; of a folder that has several of them the first in this order, and problems() of what open_data() gives name the
/// others.  Nothing of all that: smdebug, as a run may come.
/// Cost: a look at index/, where that is empty at collections/ and events/; where none of them has anything, the names of the
///       first 10,000 objects.
/// Errors: those of the storage.
[[nodiscard]] data_format format_of(const any_storage& store);

/// The same storage for a run of the Python package, else one that shows what lies there as a run.  Where nothing is said to be
/// read, checkpoints and logs beside that are problems of it: those beside a run with its index as they are now.
/// Cost:   beside what format_of() costs the names of the first 10,000 objects that are not the run's own.
/// Errors: those of the storage; unsupported for checkpoints that cannot be read, as PyTorch's pickles; value_error for a bad
///         step_regex.  What is damaged is in problems() of what is returned, and of a trial on it.
[[nodiscard]] any_storage open_data(any_storage store, const format_options& options = {});

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/impl/open_data.ipp>
#endif
