// Exports a run for spreadsheets and pandas: a row for each tensor with its reductions, or for each element.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <string>

namespace smdebug::inline v1 {

/// Writes one CSV file, `output`, in the format of RFC 4180, but with lines that end in `\n`.  The rows are exactly
/// those of `smdebug stats --format csv`, by global step, then worker, then in the order of the run's file; doubles
/// have enough digits to be read back exactly.
/// Columns: run, tensor, worker, step, mode, mode_step, dtype, shape ("2x3"; nothing for a single number), count, and
///          `reductions`.
/// With `values`: run, tensor, worker, step, mode, mode_step, index ("1 2"; nothing for a single number), value:
///          numbers with enough digits to be read back exactly in their type, NaN, Infinity, -Infinity, booleans as 1
///          and 0, complex ones as Python writes them (1+2j), strings unchanged.
/// Errors: as export_npz(), and value_error for an unknown reduction.
/// Memory: as for_each_tensor(); with `values` one record.  Cost: as for_each_tensor(), whose threads `how` sets; with
///         `values` some 100 ns an element.
export_result export_csv(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/csv.ipp>
#endif
