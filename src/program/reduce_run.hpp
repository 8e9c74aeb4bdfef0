// The reductions of one run of a batch, as rows that wait for their turn.
#pragma once

#include <program/message_sink.hpp>
#include <program/program_trial.hpp>
#include <program/scan_arguments.hpp>
#include <program/stats.hpp>
#include <smdebug/batch/reduction_row.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/reduced_tensor.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What some files of a run gave.
struct reduced_part {
    std::vector<reduction_row> rows = {};
    std::vector<stats_part::note> damage = {};
    std::pair<step_number, std::string> last_failed = {-1, {}};  ///< of the file noted last
};

/// The row of a tensor; no row, but a note, where its values cannot be read.
void add_reduced(reduced_part& part, const reduced_tensor& tensor, const std::string& run);

/// Reduces what is selected of a run, of these global steps, into a spool.  Threads that are free help, of steps that are begun when
/// they are.
/// Errors: those of scan(), and of row_spool.
[[nodiscard]] std::shared_ptr<row_spool> reduce_run(const program_trial& run, const std::string& path,
                                                    const scan_arguments& args, const step_range& of,
                                                    const run_scope& scope, message_sink& to);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
