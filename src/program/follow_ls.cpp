#include <program/follow_ls.hpp>

#include <program/following.hpp>
#include <program/program_trial.hpp>
#include <program/row_stream.hpp>
#include <program/rows.hpp>
#include <program/runs.hpp>
#include <program/step_feed.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// A table of one run is headed by its name.
bool names_the_run(const ls_arguments& args) { return args.how.format != output_format::table || args.runs.size() > 1; }

std::vector<column> step_columns(const ls_arguments& args) {
    std::vector<column> columns{
        {"step", true, 8}, {"mode", false, 7}, {"mode_step", true}, {"workers", true}, {"tensors", true}};
    if (names_the_run(args)) {
        columns.insert(columns.begin(), {"run"});
        for (const std::string& path : args.runs) {
            columns[0].least_width = std::max(columns[0].least_width, width_of(printable(plain_path(path))));
        }
    }
    return columns;
}

// One step as a row: tables say "1 of 2" workers, or only the number if the total is unknown; CSV has the number, JSON
// the names.
void add_step(row_buffer& row, const ls_arguments& args, const std::string& path, const smdebug::detail::catalog& from,
              const smdebug::detail::catalog::step_entry& step) {
    if (names_the_run(args)) {
        row.text(path);
    }
    row.integer(from.shown_step(step));
    row.text(name_of(step.mode));
    row.integer(step.mode_step);
    if (args.how.format == output_format::json) {
        std::vector<std::string> workers;
        for (const smdebug::detail::catalog::file& written : step.files()) {
            if (const std::string& name = from.workers[written.worker]; workers.empty() || workers.back() != name) {
                workers.push_back(name);  // late data are a file of their own
            }
        }
        row.list(workers);
    } else if (args.how.format == output_format::csv) {
        row.integer(step.workers());
    } else {
        const auto all = static_cast<std::size_t>(from.job->num_workers);
        row.text(std::to_string(step.workers()) + (step.workers() > all ? "" : " of " + std::to_string(all)));
    }
    row.integer(from.tensor_names_at(step).size());
    row.end_row();
}

// The head of a run as `ls` shows it.
std::string head_now(const program_trial& run) {
    const no_refresh as_it_is{run};
    return ls_head(run);
}

}  // namespace

int follow_ls(const ls_arguments& args, console& to, const std::stop_token& stop) {
    row_stream rows{to, args.how.format, detail::step_columns(args)};
    const bool table = args.how.format == output_format::table;
    if (!table) {
        rows.head();
    }
    bool first = true;
    const auto ends = follow_runs(args.runs, args.how, args.follow, to, stop, [&](const followed_run& of) {
        if (table) {
            const std::string head = detail::head_now(of.run);
            of.out.use([&](console& shown) {
                shown.print((first ? "" : "\n") + head + "\n");
                rows.head();
                first = false;
            });
        }
        noting_feed feed{of, {.give_up_after = args.follow.give_up_after, .stop = of.stop}};
        row_buffer row = rows.buffer();
        while (true) {
            const auto steps = feed.next();
            const auto from = smdebug::detail::catalog_of(of.run);
            for (const step_number step : steps) {
                detail::add_step(row, args, of.path, *from, *from->find_step(step));
            }
            if (steps.empty()) {
                break;
            }
            of.out.use([&](console&) { rows.take(row); });
        }
        const follow_end end = *feed.feed().end();
        if (end == follow_end::ended) {
            of.out.note("the job of " + of.path + " has ended after " + counted(feed.feed().count(), "step"));
        }
        return end;
    });
    return status_after(ends, to);
}

}  // namespace smdebug::inline v1::cli::detail
