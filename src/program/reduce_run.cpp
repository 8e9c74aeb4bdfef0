#include <program/reduce_run.hpp>

#include <program/runs.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/spare_threads.hpp>
#include <smdebug/trial/scan.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

void add_reduced(reduced_part& part, const reduced_tensor& tensor, const std::string& run) {
    for (const smdebug::detail::scan_failure& bad : tensor.saved_failures) {
        part.damage.push_back(
            {failure_text(bad.why, std::string{tensor.name}, tensor.shown_step, tensor.shown_mode(), run)});
    }
    if (tensor.failure != nullptr) {
        if (!tensor.file_failed) {
            part.damage.push_back(
                {failure_text(*tensor.failure, std::string{tensor.name}, tensor.shown_step, tensor.shown_mode(), run)});
        } else if (part.last_failed != std::pair{tensor.step, std::string{tensor.worker}}) {
            part.last_failed = {tensor.step, std::string{tensor.worker}};
            part.damage.push_back({unread_file_text(tensor, run), tensor.failure->why == absence::event_file_missing});
        }
        return;
    }
    reduction_row& row = part.rows.emplace_back();
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
}

std::shared_ptr<row_spool> reduce_run(const program_trial& run, const std::string& path, const scan_arguments& args,
                                      const step_range& of, const run_scope& scope, message_sink& to) {
    auto spool = std::make_shared<row_spool>(
        args.memory ? std::min<std::size_t>(std::size_t{16} << 20U, *args.memory / 8) : std::size_t{16} << 20U);
    const reduction_set wanted = wanted_by(*args.statistics);
    scan_options options{.which = selection_of(args.tensors, args.collection),
                         .saved = wanted,
                         .how = {.stop = scope.stop()},
                         .defer_checks = true,
                         .keep_repeats = true,
                         .in_place = true,
                         .stream = true};
    const auto steps = run.steps({.show_incomplete_steps = true});
    std::size_t next = 0;
    const auto first = of.begin ? std::lower_bound(steps.begin(), steps.end(), *of.begin) : steps.begin();
    const auto last = of.end ? std::lower_bound(first, steps.end(), *of.end) : steps.end();
    const std::vector<step_number> selected{first, last};
    if (selected.empty()) {
        to.note("no step of " + path + " is selected");
    }
    const auto kernel = run.state()->kernel();
    stats_damage damage;
    // Some steps at a time, so that threads which become free are used for the next ones.
    constexpr std::size_t steps_at_once = 64;
    while (next < selected.size() && !scope.stop().stop_requested()) {
        const std::size_t end = std::min(next + steps_at_once, selected.size());
        options.which.range = {selected[next], selected[end - 1] + 1};
        std::vector<std::unique_ptr<smdebug::detail::thread_lease>> lent;
        while (!args.memory && lent.size() + 1 < end - next) {  // their memory is not counted
            auto one = scope.threads()->take();
            if (!one) {
                break;
            }
            lent.push_back(std::move(one));
        }
        options.how.threads = static_cast<unsigned>(1 + lent.size());
        scan_parts(
            run, options, reduced_part{},
            [&](reduced_part& part, const smdebug::detail::scanned_tensor& tensor) {
                add_reduced(part, reduced(tensor, wanted, kernel), path);
            },
            [&](reduced_part& part) {
                damage.tell(part.damage, to);
                for (const reduction_row& row : part.rows) {
                    spool->add(row);
                }
                part.rows.clear();
            });
        next = end;
        to.progress("steps of " + path, next, selected.size());
    }
    damage.finish(path, to);
    if (!run.loaded_all_steps()) {
        to.note("the job of " + path + " has not ended: these are its tensors so far");
    }
    return spool;
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
