// Exports a run for spreadsheets and pandas: a row for each tensor with its reductions, or for each element.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/write/export_walk.hpp>
#include <smdebug/exporting/write/output.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/statistic.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {
namespace detail {

/// Errors: value_error: there is no reduction of that name.
[[nodiscard]] std::vector<statistic> statistics_of(const export_options& options);

/// Writes rows into a file.
class csv_file final : public export_target {
public:
    /// Errors: run_exists, value_error (an unknown reduction).
    csv_file(const std::string& output, const export_options& options, std::string run);

    [[nodiscard]] reduction_set wanted() const { return wanted_by(statistics_); }
    /// A row.
    void add_row(const reduced_tensor& tensor);
    /// A row for each element.
    [[nodiscard]] SMDEBUG_INLINE std::string add(const scanned_tensor& tensor) override;
    SMDEBUG_INLINE void finish(export_result& result) override;

private:
    void begin_row(std::string_view tensor, std::string_view worker, step_number step, mode in, step_number mode_step);
    void take_row();

    buffered_output file_;
    std::vector<statistic> statistics_;
    std::string run_;
    std::string row_;
    std::string front_;  // the columns that all rows of one tensor share
    shape_type index_;
};

}  // namespace detail

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
