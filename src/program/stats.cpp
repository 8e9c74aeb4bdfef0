#include <program/stats.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/ls.hpp>
#include <program/reduce_run.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial_access.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace smdebug::inline v1::cli::detail {

namespace {

using smdebug::detail::statistic_named;

}  // namespace

std::vector<statistic> usual_statistics() {
    std::vector<statistic> usual;
    for (const std::string_view name : {"min", "max", "mean", "std", "l2", "nan"}) {
        usual.push_back(*statistic_named(name));
    }
    return usual;
}

std::vector<statistic> parse_statistics(std::string_view list) {
    std::vector<statistic> chosen;
    while (true) {
        const std::size_t comma = std::min(list.find(','), list.size());
        const std::string_view name = smdebug::detail::without_blanks(list.substr(0, comma));
        const auto parsed = statistic_named(name);
        if (!parsed) {
            const std::string names = joined(smdebug::detail::statistic_names(), ", ");
            throw usage_error("--reductions: there is no \"" + std::string{name} + "\"; there are: all, or " + names);
        }
        if (std::none_of(chosen.begin(), chosen.end(),
                         [&](const statistic& each) { return each.name == parsed->name; })) {
            chosen.push_back(*parsed);
        }
        if (comma == list.size()) {
            return chosen;
        }
        list.remove_prefix(comma + 1);
    }
}

void check_worker(const std::string& wanted, const std::vector<std::string>& workers) {
    if (std::find(workers.begin(), workers.end(), wanted) == workers.end()) {
        throw invalid_worker(wanted + "." + near_or_all(wanted, workers));
    }
}

void add_statistics(row_buffer& row, const std::vector<statistic>& statistics, const reduction_values& values) {
    for (const statistic& each : statistics) {
        if (!each.key) {
            values.computed.has_counts() ? row.integer(values.*each.count) : row.empty();
        } else {
            values.computed.contains(*each.key) ? row.number(values.value[each.key->index()]) : row.empty();
        }
    }
}

std::vector<column> stats_columns(const std::vector<statistic>& statistics, std::size_t runs,
                                  bool statistics_give_way) {
    std::vector<column> columns{text_column("run", shortened::at_start, runs == 1 ? 9 : 0),
                                {"tensor"},
                                {.name = "worker", .gives_way = 5},
                                {"step", true},
                                {.name = "mode", .gives_way = 4},
                                {.name = "mode_step", .right = true, .gives_way = 8},
                                {.name = "dtype", .gives_way = 6},
                                {.name = "shape", .gives_way = 4},
                                {.name = "count", .right = true, .gives_way = 7}};
    for (const statistic& each : statistics) {
        const int rank = each.name == "l2" ? 3 : (each.name == "std" ? 2 : (each.name == "min" ? 1 : 0));
        columns.push_back(
            {.name = each.name, .right = true, .gives_way = static_cast<std::uint8_t>(statistics_give_way ? rank : 0)});
    }
    return columns;
}

int stats(const stats_arguments& args, console& to) {
    row_sink rows{to, args.how.format, stats_columns(args.statistics, args.runs.size(), args.statistics_give_way)};
    const bool show_progress = args.how.format == output_format::table || !to.results_on_terminal();
    for_each_run(args.runs, reducing(args.how, args.threads), to, [&](const std::string& path, const auto& run) {
        tensor_selection which = selection_of(args.tensors, args.collection);
        walk_options how{.threads = args.threads};
        if (args.worker) {
            detail::check_worker(*args.worker, run.workers());
            which.worker = *args.worker;
        }
        which.mode = args.mode;
        if (smdebug::detail::selected_tensors{which, *smdebug::detail::catalog_of(run)}.empty()) {
            to.note("no tensor of " + path + " is selected");
            return;
        }
        if (run.steps({.mode = args.mode, .show_incomplete_steps = true}).empty()) {
            to.note("no step of " + path + " is selected" +
                    (args.mode == mode::global || run.modes().empty()
                         ? ""
                         : "; its modes are " + joined(detail::mode_names(run), ", ")));
            return;
        }
        if (show_progress) {
            how.progress = [&](std::size_t done, std::size_t all) { to.progress("files of " + path, done, all); };
        }
        unread_report unread;
        reduce_parts(
            run, path, wanted_by(args.statistics), which, how, rows.buffer(),
            [&](row_buffer& row, const reduced_tensor& tensor) {
                row.text(path);
                row.text(tensor.name);
                row.text(tensor.worker);
                row.integer(tensor.shown_step);
                row.text(name_of(tensor.mode));
                row.integer(tensor.mode_step);
                tensor.type != dtype::invalid ? row.text(name_of(tensor.type)) : row.empty();
                tensor.shape != nullptr ? row.shape(*tensor.shape) : row.empty();
                const auto count = tensor.shape != nullptr ? element_count(*tensor.shape) : std::nullopt;
                count ? row.integer(*count) : row.empty();
                add_statistics(row, args.statistics, tensor.reductions);
                row.end_row();
            },
            [&](row_buffer& some) { rows.take(some); }, unread, to);
        unread.finish(path, to);
        if (!run.loaded_all_steps()) {
            to.note("the job of " + path + " has not ended: these are its tensors so far");
        }
    });
    rows.finish(to.trouble() ? "" : "no tensors\n");
    return to.status();
}

void declare_stats(command_line& line) {
    const auto args = std::make_shared<stats_arguments>();
    const auto columns = std::make_shared<std::optional<std::vector<statistic>>>();
    CLI::App& app = line.add(
        "stats", "reductions of every tensor: a row for each worker and step", args,
        [columns](stats_arguments& given) {
            if (*columns) {
                given.statistics = **columns;
            } else if (given.how.format == output_format::table) {
                given.statistics = usual_statistics();
                given.statistics_give_way = true;
            }
        },
        [](const stats_arguments& given, const run_context& with) { return stats(given, with.to); });
    add_runs(app, args->runs);
    add_threads(app, args->threads, "threads to use; default: 1");
    add_names(app, args->tensors, args->collection);
    add_steps(app, args->how.range);
    add_mode(app, args->mode, "only steps of TRAIN, EVAL or PREDICT; default: GLOBAL, all");
    add_text(app, "--worker", args->worker, "W", "only what this worker saved");
    add_reductions(app, *columns,
                   "the columns, in this order: min max mean std variance sum prod l1 l2, each also with abs_ before "
                   "it, nan, pos_inf, neg_inf, zeros, with commas between them; or all; default: in tables "
                   "min,max,mean,std,l2,nan, elsewhere all");
    add_how(app, args->how);
    add_runs_from_folders(app, args->how.storage.formats);
    add_notes(app,
              "A reduction that the job saved is shown as it was saved; the others are computed from the values.\n"
              "A cell is empty where there is no such number: strings, values that were not saved.\n"
              "Example: smdebug stats runs/a --collection gradients --reductions abs_mean,nan --format csv\n");
}

}  // namespace smdebug::inline v1::cli::detail
