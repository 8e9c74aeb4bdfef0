// The reductions of one run as rows: what `stats` and `scan --reductions` have in common.
#pragma once

#include <program/message_sink.hpp>
#include <program/program_trial.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_batch.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/reduced_tensor.hpp>
#include <smdebug/trial/scan.hpp>
#include <smdebug/trial/selection.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// What of some files of a run could not be read.
struct unread_tensors {
    struct note {
        std::string text;
        bool is_missing_file = false;
    };
    std::vector<note> notes = {};
    std::pair<step_number, std::string> last_failed = {-1, {}};  ///< of the file noted last

    /// Notes what could not be read of the tensor, of an event file once.  Whether there are numbers of it.
    [[nodiscard]] bool has_numbers(const reduced_tensor& tensor, const std::string& run);
};

/// Reports what could not be read of one run; of missing event files the first few, and then their number.
class unread_report {
public:
    void tell(unread_tensors& unread, message_sink& to);
    void finish(const std::string& path, message_sink& to) const;

private:
    static constexpr std::size_t most = 5;
    std::size_t missing_files_ = 0;
};

/// Reduces what a scan of a run comes upon, in one pass, to rows.  add(Rows&, const reduced_tensor&) makes the row of a tensor,
/// on any thread, in a copy of `empty`; take(Rows&) takes and empties those of some files, on the calling thread, in the
/// order of the files.  What cannot be read has no row, but a message.
/// Errors: those of scan_parts(), and of take.
template <class Rows, class Add, class Take>
void reduce_parts(const program_trial& run, const std::string& path, reduction_set wanted, scan_options options,
                  const Rows& empty, Add&& add, Take&& take, unread_report& report, message_sink& to) {
    struct part {
        Rows rows;
        unread_tensors unread = {};
    };
    options.saved = wanted;
    options.defer_checks = true;
    options.keep_repeats = true;
    options.in_place = true;
    options.stream = true;
    const smdebug::detail::any_kernel& kernel = run.state()->kernel();
    scan_parts(
        run, options, part{empty},
        [&](part& some, const smdebug::detail::scanned_tensor& scanned) {
            const reduced_tensor tensor = reduced(scanned, wanted, kernel);
            if (some.unread.has_numbers(tensor, path)) {
                add(some.rows, tensor);
            }
        },
        [&](part& some) {
            report.tell(some.unread, to);
            take(some.rows);
        });
}

/// Reduces what is selected of a run into a spool, where rows wait for their turn.  Threads that are free help, with steps that are
/// begun when they are.
/// Errors: those of scan(), and of row_spool.
[[nodiscard]] std::shared_ptr<row_spool> reduce_run(const program_trial& run, const std::string& path,
                                                    const scan_arguments& args, const step_range& of,
                                                    const run_scope& scope, message_sink& to);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
