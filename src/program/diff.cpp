#include <program/diff.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/diff_story.hpp>
#include <program/numbers.hpp>
#include <program/rows.hpp>
#include <program/run_problems.hpp>
#include <program/stats.hpp>
#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/trial/diff_runs.hpp>
#include <smdebug/trial/trial.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

namespace {

// Rows of single differences.
std::vector<column> diff_columns() {
    return {{"kind"},
            {"step", true},
            {.name = "mode", .gives_way = 3},
            {.name = "mode_step", .right = true, .gives_way = 6},
            {.name = "worker", .gives_way = 4},
            {"tensor"},
            {.name = "run", .gives_way = 2},
            {.name = "elements", .right = true, .gives_way = 7},
            {"differ", true},
            {"largest", true},
            {.name = "largest_relative", .right = true, .gives_way = 5},
            {.name = "first_index", .right = true, .gives_way = 8},
            {.name = "first_value", .right = true, .gives_way = 9},
            {.name = "second_value", .right = true, .gives_way = 9},
            text_column("what", shortened::at_end, 1)};
}

void add_difference(row_buffer& row, const run_difference& each) {
    const auto number = [&](double value) { std::isnan(value) ? row.empty() : row.number(value); };
    row.text(name_of(each.kind));
    if (each.step < 0) {
        row.empty();
        row.empty();
        row.empty();
    } else {
        row.integer(each.step);
        row.text(name_of(each.mode));
        row.integer(each.mode_step);
    }
    each.worker.empty() ? row.empty() : row.text(each.worker);
    each.tensor.empty() ? row.empty() : row.text(each.tensor);
    each.run == 0 ? row.empty() : row.text(smdebug::detail::name_of_run(each.run));
    if (each.elements == 0) {
        row.empty();
        row.empty();
    } else {
        row.integer(each.elements);
        row.integer(each.differing);
    }
    number(each.largest);
    number(each.largest_relative);
    if (each.first) {
        row.integer(each.first->place);
        row.text(each.first->first);
        row.text(each.first->second);
    } else {
        row.empty();
        row.empty();
        row.empty();
    }
    row.text(each.what);
    row.end_row();
}

// Errors: invalid_worker: it has saved nothing in either run.
void check_worker_of(const std::string& wanted, const trial& first, const trial& second) {
    std::vector<std::string> workers = first.workers();
    for (const std::string& more : second.workers()) {
        if (std::find(workers.begin(), workers.end(), more) == workers.end()) {
            workers.push_back(more);
        }
    }
    check_worker(wanted, workers);
}

// Reports what could not be read: the first few, then their number.
class diff_damage {
public:
    void report(const run_difference& each, const diff_arguments& args, console& to) {
        if (++told_ <= most) {
            const std::string& path = each.run == 1 ? args.first : args.second;
            to.damage(with_run(each.what, path));
        }
    }
    void finish(console& to) const {
        if (told_ > most) {
            to.note("and so on: " + std::to_string(told_) + " tensors or event files cannot be read");
        }
    }

private:
    static constexpr std::size_t most = 10;
    std::size_t told_ = 0;
};

// Compares two runs that are open; the exit status.
int diff_opened(const diff_arguments& args, const trial& first, const trial& second, console& to) {
    const no_refresh first_as_it_is{first};
    const no_refresh second_as_it_is{second};
    const bool table = args.how.format == output_format::table;
    const bool each_row = !table || args.all;
    diff_options options{.which = selection_of(args.tensors, args.collection), .rtol = args.rtol, .atol = args.atol};
    if (args.worker) {
        check_worker_of(*args.worker, first, second);
        options.which.worker = *args.worker;
    }
    options.which.mode = args.mode;
    diff_story story{first.steps_are_synthetic() || second.steps_are_synthetic()};
    options.step_done = [&](const compared_step& step) { story.add(step); };
    if (table || !to.results_on_terminal()) {
        options.how.progress = [&](std::size_t done, std::size_t all) { to.progress("files of both runs", done, all); };
    }
    row_sink rows{to, args.how.format, diff_columns()};
    row_buffer row = rows.buffer();
    diff_damage damage;
    const diff_summary all = diff_runs(first, second, options, [&](const run_difference& each) {
        story.add(each);
        if (each.kind == run_difference_kind::unreadable) {
            damage.report(each, args, to);
        }
        if (each_row) {
            add_difference(row, each);
            rows.take(row);
        }
    });
    damage.finish(to);
    for (const auto& [number, run] : {std::pair{1U, &first}, std::pair{2U, &second}}) {
        const std::vector<problem> problems = run->problems();
        story.add_problems(number, problems.size());
        for (const problem& each : problems) {
            if (each_row) {
                add_difference(row, {.kind = run_difference_kind::unreadable, .run = number, .what = text_of(each)});
                rows.take(row);
            }
        }
    }
    if (all.compared == 0 && all.differences == 0 && all.unreadable == 0) {
        throw value_error("nothing was compared: neither run has a tensor at a step that is selected",
                          {.where = args.first});
    }
    if (table) {
        to.print(printable(story.sentence(all, args.rtol, args.atol)) + "\n");  // names in it are untrusted
        if (args.all) {
            to.print(all.differences + all.unreadable > 0 ? "\n" : "");
            rows.finish("");
        } else {
            story.print_others(to);
            story.print_steps(to);
        }
    }
    for (const auto& [run, path] : {std::pair{&first, &args.first}, std::pair{&second, &args.second}}) {
        if (!run->loaded_all_steps()) {
            to.note("the job of " + *path + " has not ended: these are its steps so far");
        }
    }
    return to.status(all.differences > 0);
}

}  // namespace

int diff(const diff_arguments& given, console& to) {
    diff_arguments args = given;
    args.first = plain_path(args.first);
    args.second = plain_path(args.second);
    std::array<std::optional<trial>, 2> runs;
    for (const auto& [run, path] : {std::pair{&runs[0], &args.first}, std::pair{&runs[1], &args.second}}) {
        static_cast<void>(try_on_run(*path, to, [&] { run->emplace(open_one_run(*path, args.how, "compared")); }));
    }
    if (!runs[0] || !runs[1]) {
        return exit_error;
    }
    for (const auto& [run, path] : {std::pair{&runs[0], &args.first}, std::pair{&runs[1], &args.second}}) {
        tell_problems(**run, *path, args.how.skip_damaged, to);
    }
    int status = exit_error;
    static_cast<void>(try_on_run(args.first, to, [&] { status = diff_opened(args, *runs[0], *runs[1], to); }));
    return status;
}

void declare_diff(command_line& line) {
    const auto args = std::make_shared<diff_arguments>();
    CLI::App& app = line.add(
        "diff", "the first step and tensor at which two runs part; exit status 3 if they do", args,
        [](const diff_arguments&) {},
        [](const diff_arguments& given, const run_context& with) { return diff(given, with.to); });
    add_argument(app, "RUN_A", args->first, "a training run: a folder, s3://bucket/prefix, or an archive of one run");
    add_argument(app, "RUN_B", args->second, "the run to compare it with");
    add_parsed(app, "--rtol", args->rtol, "R", "values a and b are alike within atol + R * |b|; default: 0",
               [](const std::string& text) { return real_number("--rtol", text); });
    add_parsed(app, "--atol", args->atol, "A", "the same, in addition; default: 0; without both: bit by bit",
               [](const std::string& text) { return real_number("--atol", text); });
    add_names(app, args->tensors, args->collection);
    add_steps(app, args->how.range);
    add_mode(app, args->mode, "only steps of TRAIN, EVAL or PREDICT; default: GLOBAL, all");
    add_text(app, "--worker", args->worker, "W", "only what this worker saved");
    add_flag(app, "--all", args->all, "tables: a row for each difference; csv and json always have that");
    add_how(app, args->how);
    add_notes(app,
              "Steps are matched by global step, those of logs by mode and step; workers and tensors by name.  Bit by "
              "bit,\n"
              "NaN is like NaN of the same bits, and -0.0 is not 0.0; within a tolerance it is\n"
              "numpy.allclose(a, b, equal_nan=True).\n"
              "Example: smdebug diff runs/a runs/b --rtol 1e-5 --collection weights\n");
}

}  // namespace smdebug::inline v1::cli::detail
