#include <program/ls.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/following.hpp>
#include <program/rows.hpp>
#include <program/runs.hpp>
#include <program/step_feed.hpp>
#include <program/table.hpp>
#include <program/tensor_summary.hpp>
#include <program/text.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/read/selected_tensors.hpp>
#include <smdebug/trial/read/trial_state.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/trial/verify.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::cli::detail {

std::vector<std::string> names_of(reduction_set set) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        if (const auto key = reduction_key::from_index(i); set.contains(key)) {
            names.push_back(key.name());
        }
    }
    return names;
}

namespace {

template <class Number>
void append_json_numbers(std::string& out, const std::vector<Number>& numbers) {
    out += '[';
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        out.append(i == 0 ? "" : ",").append(std::to_string(numbers[i]));
    }
    out += ']';
}

}  // namespace

std::vector<std::string> mode_names(const trial& run) {
    std::vector<std::string> names;
    for (const mode each : run.modes()) {
        names.emplace_back(name_of(each));
    }
    return names;
}

namespace {

std::vector<std::string> collection_names(const trial& run) {
    std::vector<std::string> names;
    const auto job = smdebug::detail::catalog_of(run)->job;  // collections() would be a copy of all that they hold
    for (const auto& [name, entry] : job->collections) {
        names.push_back(name);
    }
    return names;
}

// The numbers of a run's complete steps, ascending, each once.
std::vector<step_number> step_numbers(const smdebug::detail::catalog& from) {
    std::vector<step_number> steps;
    for (const auto& entry : from.steps) {
        if (from.complete(entry)) {
            steps.push_back(from.shown_step(entry));
        }
    }
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

// One run as one JSON object on one line.
std::string ls_json(const trial& run, const std::vector<tensor_summary>& tensors) {
    std::string out = "{\"name\":";
    append_json_string(out, run.name());
    out += ",\"path\":";
    append_json_string(out, run.path());
    out += ",\"workers\":";
    append_json_list(out, run.workers());
    out += ",\"num_workers\":" + std::to_string(run.num_workers()) + ",\"modes\":";
    append_json_list(out, mode_names(run));
    out += ",\"steps\":";
    append_json_numbers(out, step_numbers(*smdebug::detail::catalog_of(run)));
    out += std::string{",\"loaded_all_steps\":"} + (run.loaded_all_steps() ? "true" : "false");
    out += ",\"state\":\"" + std::string{name_of(run.job_state())} + "\"";
    out += ",\"last_complete_step\":" + std::to_string(run.shown_step(run.last_complete_step())) + ",\"collections\":";
    append_json_list(out, collection_names(run));
    out += ",\"tensors\":[";
    for (const tensor_summary& tensor : tensors) {
        out += &tensor == tensors.data() ? "{\"name\":" : ",{\"name\":";
        append_json_string(out, tensor.name);
        out += ",\"dtype\":";
        out += tensor.type == dtype::invalid ? "null" : "\"" + std::string{name_of(tensor.type)} + "\"";
        out += ",\"shape\":";
        if (tensor.shape) {
            append_json_numbers(out, *tensor.shape);
        } else {
            out += "null";
        }
        out += ",\"steps\":" + std::to_string(tensor.steps) + ",\"reductions\":";
        append_json_list(out, names_of(tensor.saved));
        out += '}';
    }
    return out + "]}\n";
}

// "worker_0, worker_1"; of more than a few that are numbered without a gap the first and the last.
std::string worker_names(const std::vector<std::string>& all) {
    std::vector<std::string> sorted = all;
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
        return std::pair{a.size(), a} < std::pair{b.size(), b};
    });
    const std::string first = sorted.empty() ? "" : sorted.front();
    const std::size_t prefix = first.find_last_not_of("0123456789") + 1;
    auto number = std::strtoull(first.c_str() + prefix, nullptr, 10);
    const bool in_a_row = std::all_of(sorted.begin(), sorted.end(), [&](const std::string& each) {
        return each == first.substr(0, prefix) + std::to_string(number++);
    });
    return sorted.size() > 8 && in_a_row ? first + " to " + sorted.back() + " (" + grouped(sorted.size()) + " workers)"
                                         : joined(all, ", ");
}

// "worker_0, worker_1", and whether the job has another number of them, which data of other tools do not record.
std::string workers_line(const trial& run) {
    const auto workers = run.workers();
    std::string line = printable(worker_names(workers));
    if (workers.size() < run.num_workers() ||
        (workers.size() > run.num_workers() && smdebug::detail::catalog_of(run)->has_index)) {
        line += " (the job says that it has " + std::to_string(run.num_workers()) + ")";
    }
    return line;
}

// "running"; if the job seems to have died, also since when.
std::string state_line(const trial& run) {
    const job_state state = run.job_state();
    return std::string{name_of(state)} + (state == job_state::stalled
                                              ? ": nothing new for " + duration_text(run.quiet_time()) + ", no end mark"
                                              : "");
}

// One run for people, above its table of tensors.
std::string ls_head(const trial& run) {
    const std::vector<step_number> steps = run.steps();
    const std::size_t incomplete = run.steps({.show_incomplete_steps = true}).size() - steps.size();
    std::string out = "run          " + printable(run.name()) + "\npath         " + printable(run.path()) + "\n";
    out += "state        " + state_line(run) + "\n";
    out += "workers      " + workers_line(run) + "\n";
    out += "steps        " + counted(steps.size(), "step") +
           (steps.empty() ? "" : ": " + shown_steps(*smdebug::detail::catalog_of(run), false));
    out += incomplete == 0 ? "\n" : "; " + std::to_string(incomplete) + " more not complete\n";
    out += "modes        ";
    const auto modes = run.modes();
    for (const mode each : modes) {
        const auto mode_steps = run.steps({.mode = each});
        out.append(each == modes.front() ? "" : "\n             ").append(name_of(each));
        out += " " + counted(mode_steps.size(), "step") + (mode_steps.empty() ? "" : ": " + compact_steps(mode_steps));
    }
    out += modes.empty() ? "none\n" : "\n";
    return out + "collections  " + printable(joined(collection_names(run), ", ")) + "\n";
}

// `ls --verify`: a row for each inconsistency of each run; an error status where there is any.
int verify(const ls_arguments& args, console& to) {
    row_sink rows{to,
                  args.how.format,
                  {text_column("run", shortened::at_start),
                   {"kind"},
                   {"file"},
                   {"step", true},
                   {.name = "worker", .gives_way = 1},
                   {"tensor"},
                   text_column("what", shortened::at_end)}};
    std::size_t differences = 0;
    run_options how = args.how;
    how.skip_damaged = true;  // what is damaged has a row
    for_each_run(args.runs, how, to, [&](const std::string& path, const auto& run) {
        row_buffer row = rows.buffer();
        for (const inconsistency& each : verify_run(run)) {
            row.text(path);
            row.text(name_of(each.kind));
            row.text(each.file);
            each.step ? row.integer(*each.step) : row.empty();
            row.text(each.worker);
            row.text(each.tensor);
            row.text(each.what);
            row.end_row();
            ++differences;
        }
        rows.take(row);
    });
    rows.finish(to.trouble() ? "" : "no differences\n");
    return differences != 0 ? exit_error : to.status();
}

}  // namespace

int ls(const ls_arguments& args, console& to) {
    if (args.verify) {
        return verify(args, to);
    }
    const bool csv = args.how.format == output_format::csv;
    std::vector<column> columns{
        {"tensor"}, {"dtype"}, {"shape"}, {"steps", true}, text_column("reductions", shortened::at_end)};
    if (csv) {
        columns.insert(columns.begin(), {"run"});
    }
    row_sink rows{to, args.how.format, columns};
    bool first = true;
    for_each_run(args.runs, args.how, to, [&](const std::string& path, const auto& run) {
        const no_refresh as_it_is{run};
        const auto from = smdebug::detail::catalog_of(run);
        tensor_selection which = detail::selection_of(args.tensors, args.collection);
        which.digests = true;
        const smdebug::detail::selected_tensors wanted{which, *from};
        missing_values missing;
        std::vector<tensor_summary> tensors = summarize(
            *smdebug::detail::state_of(run), *from,
            [&](std::size_t read, std::size_t all) { to.progress("tensors", read, all); }, &missing);
        if (missing.files > 0) {
            const std::string text =
                (missing.tensors > 0 ? "of " + counted(missing.tensors, "tensor") + " no value can be looked at: "
                                     : "") +
                counted(missing.files, "event file") + " missing, the first " + missing.first_file + " [run " + path +
                "]";
            args.how.skip_damaged ? to.note(text) : to.error(text);
        }
        std::erase_if(tensors,
                      [&](const tensor_summary& tensor) { return !wanted.contains(*from->names->find(tensor.name)); });
        if (args.how.format == output_format::json) {
            to.print(detail::ls_json(run, tensors));
            return;
        }
        row_buffer row = rows.buffer();
        for (const tensor_summary& tensor : tensors) {
            if (csv) {
                row.text(path);
            }
            row.text(tensor.name);
            tensor.type == dtype::invalid ? row.empty() : row.text(name_of(tensor.type));
            tensor.shape ? row.shape(*tensor.shape) : row.empty();
            row.integer(tensor.steps);
            const bool every = !csv && tensor.saved == (reduction_set::plain() | reduction_set::absolute());
            tensor.saved.empty() ? row.empty() : row.text(every ? "all 18" : joined(names_of(tensor.saved), " "));
            row.end_row();
        }
        rows.take(row);
        if (!csv) {
            to.print((first ? "" : "\n") + detail::ls_head(run) + "\n");
            rows.finish(args.tensors || args.collection ? "no tensor is selected\n" : "no tensors\n");
        }
        first = false;
    });
    return to.status();
}

namespace {

void check_ls(const ls_arguments& args) {
    if (args.verify && args.follow.on) {
        throw usage_error("--verify and --follow exclude each other");
    }
    if ((args.verify || args.follow.on) &&
        (args.tensors || args.collection || args.how.range.begin || args.how.range.end)) {
        throw usage_error(std::string{"--tensors, --collection and --steps choose what is listed; "} +
                          (args.verify ? "--verify looks at all of a run" : "--follow lists every step"));
    }
    check_follow(args.follow, args.runs.size());
}

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
std::string head_now(const trial& run) {
    const no_refresh as_it_is{run};
    return ls_head(run);
}

// `ls --follow`: a line for each step of runs that grow, as soon as it is complete, until every job has ended, was given
// up, or `stop`.
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

}  // namespace

void declare_ls(command_line& line) {
    const auto args = std::make_shared<ls_arguments>();
    CLI::App& app = line.add("ls", "what runs hold: workers, modes, steps, collections, tensors", args, check_ls,
                             [](const ls_arguments& given, const run_context& with) {
                                 return given.follow.on ? follow_ls(given, with.to, with.stop()) : ls(given, with.to);
                             });
    add_runs(app, args->runs);
    add_flag(app, "--verify", args->verify,
             "instead of the contents: all that the files of a run say twice and not alike; reads everything; "
             "exit status 1 if there is any");
    add_names(app, args->tensors, args->collection);
    add_steps(app, args->how.range);
    add_follow(app, args->follow, "instead of the tensors: each step as soon as it is complete, until the job ends");
    add_how(app, args->how);
    add_runs_from_folders(app, args->how.storage.formats);
}

}  // namespace smdebug::inline v1::cli::detail
