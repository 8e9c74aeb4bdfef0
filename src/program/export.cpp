#include <program/export.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/run_problems.hpp>
#include <program/stats.hpp>
#include <program/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/exporting/csv.hpp>
#include <smdebug/exporting/npz.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/exporting/run.hpp>
#include <smdebug/exporting/safetensors.hpp>
#include <smdebug/exporting/tensorboard.hpp>
#include <smdebug/trial/trial.hpp>

#include <cstddef>
#include <exception>
#include <memory>

namespace smdebug::inline v1::cli::detail {

namespace {

// Reports what was left out: the first few of each kind, then their number.
class export_notes {
public:
    export_notes(console& to, const std::string& run) : to_(to), run_(run) {}

    void report(const left_out_tensor& what) {
        if (++(what.is_damaged ? damaged_ : refused_) <= most) {
            to_.damage(with_run(what.why, run_));
        }
    }
    /// How many things of the run are missing in the output.
    [[nodiscard]] std::size_t left_out() const noexcept { return damaged_ + refused_; }
    void finish(const export_result& result) const {
        if (damaged_ > most) {
            to_.note("and so on: " + std::to_string(damaged_) + " tensors or event files cannot be read");
        }
        if (refused_ > most) {
            to_.note("and so on: " + std::to_string(refused_) + " tensors have no place in the format");
        }
        if (result.without_values > 0) {
            to_.note("of " + counted(result.without_values, "tensor") +
                     " no values were saved, only reductions or shapes: csv and smdebug have those");
        }
    }

private:
    static constexpr std::size_t most = 10;

    console& to_;
    const std::string& run_;
    std::size_t damaged_ = 0;
    std::size_t refused_ = 0;
};

// Exports a run that is open.  Errors: those of the export_...() functions.
export_result export_opened(const trial& run, const export_arguments& args, const export_options& options) {
    switch (args.to) {
        case export_format::npz:
            return export_npz(run, args.output, options);
        case export_format::csv:
            return export_csv(run, args.output, options);
        case export_format::tensorboard:
            return export_tensorboard(run, args.output, options);
        case export_format::safetensors:
            return export_safetensors(run, args.output, options);
        case export_format::smdebug:
            return export_run(run, args.output, options);
    }
    return {};
}

}  // namespace

int export_to(const export_arguments& args, console& to, const std::stop_token& stop) {
    const std::string path = plain_path(args.run);
    const auto failure = try_on_run(path, to, [&] {
        const bool reduces = args.to == export_format::csv && !args.values;
        const trial run = open_one_run(path, reduces ? reducing(args.how, args.threads) : args.how, "exported");
        const no_refresh as_it_is{run};
        if (args.worker) {
            check_worker(*args.worker, run.workers());
        }
        export_options options{.which = selection_of(args.tensors, args.collection),
                               .replace = args.replace,
                               .run_name = path,
                               .reductions = args.reductions,
                               .values = args.values,
                               .tensors = args.whole_tensors};
        options.which.mode = args.mode;
        options.which.worker = args.worker;
        export_notes notes{to, path};
        options.left_out = [&](const left_out_tensor& what) { notes.report(what); };
        options.how = {
            .threads = args.threads,
            .progress = [&](std::size_t done, std::size_t all) { to.progress("files of " + path, done, all); },
            .stop = stop};
        const export_result result = export_opened(run, args, options);
        notes.finish(result);
        tell_problems(run, path, args.how.skip_damaged, to);
        if (!run.loaded_all_steps()) {
            to.note("the job of " + path + " has not ended: these are its tensors so far");
        }
        const std::size_t left_out = run.problems().size() + notes.left_out();
        to.print("exported " + counted(result.tensors, "tensor") + " into " + printable(args.output) + ": " +
                 counted(result.files, "file") + ", " + size_text(result.bytes) +
                 (left_out == 0 ? "" : "; " + counted(left_out, "place") + " of the run left out, see the messages") +
                 "\n");
    });
    return failure ? exit_error : to.status();
}

void declare_export(command_line& line) {
    const auto args = std::make_shared<export_arguments>();
    const auto columns = std::make_shared<std::optional<std::vector<statistic>>>();
    CLI::App& app = line.add(
        "export", "write a run, or a part of it, in a format of other tools", args,
        [columns](export_arguments& given) {
            const bool csv = given.to == export_format::csv;
            if (given.values && !csv) {
                throw usage_error("--values is for --to csv: the other formats have all values");
            }
            if (*columns && (!csv || given.values)) {
                throw usage_error("--reductions is for --to csv without --values");
            }
            if (given.whole_tensors && given.to != export_format::tensorboard) {
                throw usage_error("--as-tensors is for --to tensorboard");
            }
            for (const statistic& each : columns->value_or(std::vector<statistic>{})) {
                given.reductions.push_back(each.name);
            }
        },
        [](const export_arguments& given, const run_context& with) { return export_to(given, with.to, with.stop()); });
    add_argument(app, "RUN", args->run, "a training run: a folder, s3://bucket/prefix, or an archive of one run");
    add_choice(app, "--to", "FORMAT", {export_formats.begin(), export_formats.end()},
               "npz, csv, tensorboard, safetensors or smdebug, a run of its own", [args](const std::string& text) {
                   const auto found = std::find(export_formats.begin(), export_formats.end(), text);
                   args->to = static_cast<export_format>(found - export_formats.begin());
               });
    add_output(app, args->output, "OUT",
               "what is written on this machine: csv a file, the others a folder; npz and safetensors a file "
               "where it is called so");
    add_flag(app, "--replace,--force", args->replace, "replace the output where it is there already");
    add_names(app, args->tensors, args->collection);
    add_steps(app, args->how.range);
    add_mode(app, args->mode, "only steps of TRAIN, EVAL or PREDICT; default: GLOBAL, all");
    add_text(app, "--worker", args->worker, "W", "only what this worker saved");
    add_reductions(app, *columns, "csv: the columns, as of stats; default: all");
    add_flag(app, "--values", args->values, "csv: a row for each element instead of each tensor");
    add_flag(app, "--as-tensors", args->whole_tensors,
             "tensorboard: tensors as they are instead of curves and histograms");
    add_threads(app, args->threads, "csv: threads to use; default: 1");
    add_trust(app, args->how);
    add_formats(app, args->how.storage.formats);
    add_storage(app, args->how.storage);
    add_notes(
        app,
        "npz          step_000000500.npz for each step; FILE.npz: of one step, or of one tensor over its steps,\n"
        "             stacked, with their numbers in \"steps\".  bfloat16 becomes float32, as does float8\n"
        "safetensors  step_000000500.safetensors for each step; not: complex numbers and strings\n"
        "csv          the rows of stats --format csv; --values: run,tensor,worker,step,mode,mode_step,index,value\n"
        "tensorboard  train, validation, ... with an event file each, by the steps of the mode\n"
        "smdebug      a run with only what is selected\n"
        "What is written takes its place when it is whole.  What cannot be read, or has no place in the format, "
        "is\n"
        "named and left out; the exit status is then 1.\n"
        "Example: smdebug export runs/a --to npz --collection weights --steps 100:200 -o weights\n");
}

}  // namespace smdebug::inline v1::cli::detail
