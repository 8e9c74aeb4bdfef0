#include <program/reduce_run.hpp>

#include <program/runs.hpp>
#include <program/stats.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/ordered_thread_pool.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug::inline v1::cli::detail {

bool unread_tensors::has_numbers(const reduced_tensor& tensor, const std::string& run) {
    const auto note_failure = [&](const lookup_error& why) {
        notes.push_back({failure_text(why, std::string{tensor.name}, tensor.shown_step, tensor.shown_mode(), run)});
    };
    for (const unread_reduction& bad : tensor.saved_failures) {
        note_failure(bad.why);
    }
    if (tensor.failure == nullptr) {
        return true;
    }
    const lookup_error& why = *tensor.failure;
    if (!tensor.file_failed) {
        note_failure(why);
    } else if (last_failed != std::pair{tensor.step, std::string{tensor.worker}}) {
        last_failed = {tensor.step, std::string{tensor.worker}};
        const bool is_missing = why.why == lookup_failure_kind::event_file_missing;
        notes.push_back({why.where + (is_missing ? " is missing" : " cannot be read: " + why.note) +
                             ": no rows for step " + std::to_string(tensor.shown_step) + " of " +
                             std::string{tensor.worker} + " [run " + run + "]",
                         is_missing});
    }
    return false;
}

void unread_report::report(unread_tensors& unread, message_sink& to) {
    for (const unread_tensors::note& note : unread.notes) {
        missing_files_ += note.is_missing_file ? 1U : 0U;
        if (!note.is_missing_file || missing_files_ <= most) {
            to.damage(note.text);
        }
    }
    unread.notes.clear();
}

void unread_report::finish(const std::string& path, message_sink& to) const {
    if (missing_files_ > most) {
        to.note("and so on: " + std::to_string(missing_files_) + " event files are missing [run " + path + "]");
    }
}

namespace {

reduction_row row_of(const reduced_tensor& tensor) {
    reduction_row row;
    row.step = tensor.shown_step;
    row.mode_step = tensor.mode_step;
    row.mode = tensor.mode;
    row.worker = tensor.worker;
    row.name = tensor.name;
    row.dtype = tensor.type != dtype::invalid ? std::string{name_of(tensor.type)} : std::string{};
    if (tensor.shape != nullptr) {
        row.shape = shape_text(*tensor.shape);
    }
    row.reductions = tensor.reductions;
    if (tensor.type == dtype::invalid && tensor.shape != nullptr) {
        row.reductions.count = element_count(*tensor.shape).value_or(0);
    }
    return row;
}

}  // namespace

std::shared_ptr<row_spool> reduce_run(const trial& run, const std::string& path, const scan_arguments& args,
                                      const step_range& of, const run_scope& scope, message_sink& to) {
    auto spool = std::make_shared<row_spool>(
        args.memory ? std::min<std::size_t>(std::size_t{16} << 20U, *args.memory / 8) : std::size_t{16} << 20U);
    tensor_selection which = selection_of(args.tensors, args.collection);
    walk_options how{.stop = scope.stop};
    if (scope.memory) {
        how.memory = std::min(how.memory, *scope.memory / 8);
    }
    const auto steps = run.steps({.show_incomplete_steps = true});
    std::size_t next = 0;
    const auto first = of.begin ? std::lower_bound(steps.begin(), steps.end(), *of.begin) : steps.begin();
    const auto last = of.end ? std::lower_bound(first, steps.end(), *of.end) : steps.end();
    const std::vector<step_number> selected{first, last};
    if (selected.empty()) {
        to.note("no step of " + path + " is selected");
    }
    unread_report unread;
    // Some steps at a time, so that threads which become free are used for the next ones.
    constexpr std::size_t steps_at_once = 64;
    const std::size_t most_lent = scope.memory ? sharing_options{}.within(*scope.memory).most_threads : steps_at_once;
    while (next < selected.size() && !scope.stop.stop_requested()) {
        const std::size_t end = std::min(next + steps_at_once, selected.size());
        which.range = {selected[next], selected[end - 1] + 1};
        std::vector<thread_permit> lent;
        while (lent.size() < std::min(end - next - 1, most_lent)) {
            thread_permit one = scope.threads->try_acquire();
            if (!one) {
                break;
            }
            lent.push_back(std::move(one));
        }
        how.threads = static_cast<unsigned>(1 + lent.size());
        reduce_parts(
            run, path, wanted_by(*args.statistics), which, how, std::vector<reduction_row>{},
            [](std::vector<reduction_row>& rows, const reduced_tensor& tensor) { rows.push_back(row_of(tensor)); },
            [&](std::vector<reduction_row>& rows) {
                for (const reduction_row& row : rows) {
                    spool->add(row);
                }
                rows.clear();
            },
            unread, to);
        next = end;
        to.progress("steps of " + path, next, selected.size());
    }
    unread.finish(path, to);
    if (!run.loaded_all_steps()) {
        to.note("the job of " + path + " has not ended: these are its tensors so far");
    }
    return spool;
}

}  // namespace smdebug::inline v1::cli::detail
