// Exports a part of a run as a new run.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <string>

namespace smdebug::inline v1 {

/// Writes the selected tensors as a new run, which trials and the Python package can open.
/// Output: a folder with event and index files, a collections file for each selected worker, and the mark of the job's
///         end, even where the source run still grows.
/// Values: bit by bit, with names, steps, modes, mode steps, workers and times of the records; saved shapes; saved
///         reductions as doubles, as trials read them.  Collections keep their names and settings, and list only the
///         selected tensors.  Payloads have valid checksums.
/// Left out and reported: tensors above the 2 GiB of a record.
/// Errors, memory: as export_npz().  Cost: reading the run, a checksum, and writing.
export_result export_run(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/run.ipp>
#endif
