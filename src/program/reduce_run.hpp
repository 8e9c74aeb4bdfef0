// The reductions of one run as rows: shared by `stats` and `scan --reductions`.
#pragma once

#include <program/message_sink.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/read/scan.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/scanned_tensor.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Unreadable data in some files of a run.
struct unread_tensors {
    struct note {
        std::string text;
        bool is_missing_file = false;
    };
    std::vector<note> notes = {};
    std::pair<step_number, std::string> last_failed = {-1, {}};  ///< of the file noted last

    /// Records what could not be read of the tensor, once per event file.  Returns whether the tensor has numbers.
    [[nodiscard]] bool has_numbers(const reduced_tensor& tensor, const std::string& run);
};

/// Reports what could not be read of one run: the first few missing event files, then their number.
class unread_report {
public:
    void report(unread_tensors& unread, message_sink& to);
    void finish(const std::string& path, message_sink& to) const;

private:
    static constexpr std::size_t most = 5;
    std::size_t missing_files_ = 0;
};

/// Reduces the tensors of a scan to rows, in one pass.  add(Rows&, const reduced_tensor&) makes the row of a
/// tensor, on any thread, in a copy of `empty`; take(Rows&) takes and empties those of some files, on the calling
/// thread, in the order of the files.  What cannot be read has no row, but a message.
/// Errors: those of part_stream, and of take.
template <class Rows, class Add, class Take>
void reduce_parts(const trial& run, const std::string& path, reduction_set wanted, const tensor_selection& which,
                  const walk_options& how, const Rows& empty, Add&& add, Take&& take, unread_report& report,
                  message_sink& to) {
    struct part {
        Rows rows;
        unread_tensors unread = {};
        reduced_tensor tensor = {};  // the last one
    };
    const smdebug::detail::scan_options options{
        .which = which,
        .saved = wanted,
        .how = how,
        .reading = {.in_place = true, .defer_checks = true, .keep_repeats = true, .stream = true}};
    const smdebug::detail::any_kernel& kernel = smdebug::detail::state_of(run)->kernel();
    smdebug::detail::part_stream<part> parts{smdebug::detail::state_of(run), options, part{empty},
                                             [&](part& some, const smdebug::detail::scanned_tensor& scanned) {
                                                 reduce_into(scanned, wanted, kernel, some.tensor);
                                                 if (some.unread.has_numbers(some.tensor, path)) {
                                                     add(some.rows, some.tensor);
                                                 }
                                             }};
    while (part* const some = parts.next()) {
        report.report(some->unread, to);
        take(some->rows);
    }
}

/// Reduces the selected tensors of a run into a spool, where rows wait for their turn.  Idle threads help with steps
/// that are not begun yet.
/// Errors: those of scan(), and of row_spool.
[[nodiscard]] std::shared_ptr<row_spool> reduce_run(const trial& run, const std::string& path,
                                                    const scan_arguments& args, const step_range& of,
                                                    const run_scope& scope, message_sink& to);

}  // namespace smdebug::inline v1::cli::detail
