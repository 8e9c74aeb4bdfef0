#include <program/arguments.hpp>

#include <program/check.hpp>
#include <program/command_options.hpp>
#include <program/completion.hpp>
#include <program/console.hpp>
#include <program/evaluate_run.hpp>
#include <program/scan_arguments.hpp>
#include <program/text.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// The end of every command's help.
constexpr const char* conventions =
    "Results go to standard output, notes and errors to standard error.\n"
    "Exit status: 0 nothing found, and everything could be read; 1 error, or part of a run could not be read;\n"
    "             2 wrong usage; 3 a rule's condition was met, or two runs differ; 4 both 3 and 1; 130 interrupted.";

// The parser: it describes the options to CLI11 and fills the arguments of each command.
class parser {
public:
    // Borrows the registry.  `defaults`: the file of them, or nothing.
    explicit parser(const program_rules& registry, const std::string& defaults = {});

    [[nodiscard]] command parse(std::vector<std::string> arguments);

    // What the parser takes.
    [[nodiscard]] command_table table() { return read_commands(app_, conventions); }

private:
    // Behind the program's own options.
    [[nodiscard]] static std::size_t place_of_command(const std::vector<std::string>& arguments);

    [[nodiscard]] std::vector<std::string> known_rules() const;

    [[nodiscard]] std::vector<std::string> command_names() const;

    void add_ls();
    void add_show();
    void add_stats();
    void add_diff();
    void add_check();
    void add_scan();
    void add_report();
    void add_merge();
    void add_pack();
    void add_export();
    void add_rules();
    void add_index();
    void add_repair();
    void add_completion();
    void add_manual();
    void add_help();

    // Declares a command: the app for its options, and what is made of them once they are parsed.
    template <class Finish>
    CLI::App& declare(const std::string& name, const std::string& summary, Finish finish) {
        CLI::App& app = *app_.add_subcommand(name, summary);
        finished_.emplace(&app, [finish = std::move(finish)] { return command{finish()}; });
        return app;
    }

    const program_rules& registry_;
    CLI::App app_{"Looks into training runs that Amazon's package smdebug, or this library, has saved.", "smdebug"};
    std::shared_ptr<defaults_reader> defaults_ = std::make_shared<defaults_reader>(app_);
    ls_arguments ls_;
    show_arguments show_;
    stats_arguments stats_;
    diff_arguments diff_;
    check_arguments check_;
    scan_arguments scan_;
    report_arguments report_;
    merge_arguments merge_;
    pack_arguments pack_;
    export_arguments export_;
    rules_arguments listed_;
    index_arguments index_;
    repair_arguments repair_;
    manual_arguments manual_;
    std::string shell_;
    std::string manual_command_;
    option_texts texts_;
    std::map<const CLI::App*, std::function<command()>> finished_;
};

}  // namespace

parser::parser(const program_rules& registry, const std::string& defaults) : registry_(registry) {
    app_.set_config("--config", defaults,
                    "the file of defaults: of options for all commands, or for one behind a line [COMMAND]")
        ->type_name("FILE");
    app_.config_formatter(defaults_);
    app_.set_version_flag("--version", "smdebug " + version_text());
    app_.require_subcommand(1);
    app_.footer(conventions);  // of the commands, too
    add_ls();
    add_show();
    add_stats();
    add_diff();
    add_check();
    add_scan();
    add_report();
    add_merge();
    add_pack();
    add_export();
    add_rules();
    add_index();
    add_repair();
    add_completion();
    add_manual();
    add_help();
    app_.footer(std::string{conventions} + "\n`smdebug COMMAND --help` tells more.");
}

command parser::parse(std::vector<std::string> arguments) {
    if (arguments.empty()) {
        throw usage_error("a command is missing", "\n" + app_.help());
    }
    const auto commands = command_names();
    const auto first = static_cast<std::ptrdiff_t>(place_of_command(arguments));
    const auto word = [&] { return arguments.begin() + first; };
    if (word() != arguments.end() &&
        *word() == "complete") {  // by the scripts of `completion`, of whatever is being typed
        const auto begin = std::find(word(), arguments.end(), "--");
        return help_request{
            completion_text(complete(table(), {begin == arguments.end() ? begin : begin + 1, arguments.end()}))};
    }
    if (word() != arguments.end() && *word() == "help") {  // as git has it: help, help COMMAND
        arguments.erase(word());
        arguments.emplace_back("--help");
    } else if (word() != arguments.end() && *word() == "version") {
        *word() = "--version";
    }
    if (word() != arguments.end() && !word()->starts_with('-') &&
        std::find(commands.begin(), commands.end(), *word()) == commands.end()) {
        throw usage_error("there is no command \"" + *word() + "\"; there are: " + joined(commands, ", ") + "." +
                              suggestion(*word(), commands),
                          "Try `smdebug --help`.");
    }
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
        app_.parse(std::move(arguments));
    } catch (const CLI::CallForVersion&) {
        return version_request{};
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app_.get_subcommands();
        return help_request{chosen.empty() ? app_.help() : chosen.front()->help("smdebug")};
    } catch (const CLI::Error& wrong) {
        const auto chosen = app_.get_subcommands();
        const CLI::App& asked = chosen.empty() ? app_ : *chosen.front();
        const std::string text = detail::text_of_error(wrong, asked, app_.get_subcommands({}));
        const std::string place = defaults_->place_of(text);
        throw usage_error(text, (place.empty() ? "" : printable(place) + "\n") + "Try `smdebug " +
                                    (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help`.");
    }
    try {
        return finished_.at(app_.get_subcommands().front())();
    } catch (const usage_error& wrong) {
        const std::string_view text = wrong.what();
        const std::string place = defaults_->place_of(text);
        if (place.empty()) {
            throw;
        }
        const std::size_t end = std::min(text.find('\n'), text.size());  // behind it is help
        throw usage_error(text.substr(0, end), printable(place).append(text.substr(end)));
    }
}

std::size_t parser::place_of_command(const std::vector<std::string>& arguments) {
    std::size_t place = 0;
    while (place < arguments.size() && arguments[place].starts_with('-')) {
        place += arguments[place] == "--config" ? 2U : 1U;
    }
    return std::min(place, arguments.size());
}

std::vector<std::string> parser::known_rules() const {
    std::vector<std::string> names;
    for (const rule_info& info : registry_.infos()) {
        names.push_back(info.name);
    }
    return names;
}

std::vector<std::string> parser::command_names() const {
    std::vector<std::string> names;
    for (const CLI::App* subcommand : app_.get_subcommands({})) {
        names.push_back(subcommand->get_name());
    }
    return names;
}

void parser::add_ls() {
    CLI::App& app = declare("ls", "what runs hold: workers, modes, steps, collections, tensors", [this] {
        settle(ls_, texts_);
        return ls_;
    });
    add_runs(app, ls_.runs);
    app.add_flag("--verify", ls_.verify,
                 "instead of the contents: all that the files of a run say twice and not alike; reads everything; "
                 "exit status 1 if there is any");
    add_names(app, ls_.tensors, ls_.collection);
    add_steps(app, texts_);
    add_follow(app, ls_.follow, texts_,
               "instead of the tensors: each step as soon as it is complete, until the job ends");
    add_how(app, ls_.how, texts_);
    add_runs_from_folders(app, ls_.how.storage.formats);
}

void parser::add_show() {
    CLI::App& app = declare("show", "one tensor at one step: shape, dtype, reductions, first values", [this] {
        settle(show_, texts_);
        return show_;
    });
    app.add_option("RUN", show_.run, "a training run: a folder, or s3://bucket/prefix")->required()->type_name("");
    app.add_option("TENSOR", show_.tensor, "name of a tensor")->required()->type_name("");
    add_text(app, "--step", texts_.step, "S", "the step, in --mode; default: the last one that has the tensor");
    add_text(app, "--worker", show_.worker, "W", "the worker; default: the first by name that saved it");
    add_mode(app, texts_, "GLOBAL (default), TRAIN, EVAL or PREDICT: what --step counts");
    add_text(app, "--values", texts_.values, "N", "how many values to show; default: 10");
    add_how(app, show_.how, texts_);
}

void parser::add_stats() {
    CLI::App& app = declare("stats", "reductions of every tensor: a row for each worker and step", [this] {
        settle(stats_, texts_);
        return stats_;
    });
    add_runs(app, stats_.runs);
    add_text(app, "--threads", texts_.threads, "N", "threads to use; default: 1");
    add_names(app, stats_.tensors, stats_.collection);
    add_steps(app, texts_);
    add_mode(app, texts_, "only steps of TRAIN, EVAL or PREDICT; default: GLOBAL, all");
    add_text(app, "--worker", stats_.worker, "W", "only what this worker saved");
    add_reductions(app, texts_,
                   "the columns, in this order: min max mean std variance sum prod l1 l2, each also with abs_ before "
                   "it, nan, pos_inf, neg_inf, zeros, with commas between them; or all; default: in tables "
                   "min,max,mean,std,l2,nan, elsewhere all");
    add_how(app, stats_.how, texts_);
    add_runs_from_folders(app, stats_.how.storage.formats);
    app.footer(
        "A reduction that the job saved is shown as it was saved; the others are computed from the values.\n"
        "A cell is empty where there is no such number: strings, values that were not saved.\n"
        "Example: smdebug stats runs/a --collection gradients --reductions abs_mean,nan --format csv\n\n" +
        std::string{conventions});
}

void parser::add_diff() {
    CLI::App& app =
        declare("diff", "the first step and tensor at which two runs part; exit status 3 if they do", [this] {
            settle(diff_, texts_);
            return diff_;
        });
    app.add_option("RUN_A", diff_.first, "a training run: a folder, s3://bucket/prefix, or an archive of one run")
        ->required()
        ->type_name("");
    app.add_option("RUN_B", diff_.second, "the run to compare it with")->required()->type_name("");
    add_text(app, "--rtol", texts_.rtol, "R", "values a and b are alike within atol + R * |b|; default: 0");
    add_text(app, "--atol", texts_.atol, "A", "the same, in addition; default: 0; without both: bit by bit");
    add_names(app, diff_.tensors, diff_.collection);
    add_steps(app, texts_);
    add_mode(app, texts_, "only steps of TRAIN, EVAL or PREDICT; default: GLOBAL, all");
    add_text(app, "--worker", diff_.worker, "W", "only what this worker saved");
    app.add_flag("--all", diff_.all, "tables: a row for each difference; csv and json always have that");
    add_how(app, diff_.how, texts_);
    app.footer(
        "Steps are matched by global step, those of logs by mode and step; workers and tensors by name.  Bit by "
        "bit,\n"
        "NaN is like NaN of the same bits, and -0.0 is not 0.0; within a tolerance it is\n"
        "numpy.allclose(a, b, equal_nan=True).\n"
        "Example: smdebug diff runs/a runs/b --rtol 1e-5 --collection weights\n\n" +
        std::string{conventions});
}

void parser::add_check() {
    CLI::App& app = declare("check", "evaluate rules at every saved step; exit status 3 if one is met", [this] {
        settle(check_, texts_, registry_);
        return check_;
    });
    add_runs(app, check_.runs);
    add_rule_options(app, texts_, known_rules());
    add_steps(app, texts_);
    add_evaluation(app, check_, texts_);
    add_follow(app, check_.follow, texts_, "go on until the job ends: each step as soon as it is complete");
    add_how(app, check_.how, texts_);
    add_runs_from_folders(app, check_.how.storage.formats);
    app.footer(
        "`smdebug rules` lists the rules and their parameters.\n"
        "In --rule, a comma separates parameters and a semicolon the items of a list; a backslash before\n"
        "either makes it part of the value.\n"
        "Example: smdebug check runs/a --rule vanishing_gradient,threshold=1e-6 \\\n"
        "             --rule 'exploding_tensor,collection_names=losses;gradients,only_nan=True'\n\n" +
        std::string{conventions});
}

void parser::add_scan() {
    CLI::App& app = declare(
        "scan", "all built-in rules that have something to look at, over many runs; exit status 3 if one is met",
        [this] {
            settle(scan_, texts_, registry_);
            return scan_;
        });
    app.add_option("RUN", scan_.check.runs,
                   "training runs, archives, folders with runs in them, patterns such as 'jobs/**/run-?'; s3://, too")
        ->type_name("");
    app.add_flag("--all", scan_.all, "tables: a row for each rule that has nothing to look at, too, and why");
    add_text(app, "--list", texts_.list, "FILE",
             "more runs: a file with a path, pattern or folder a line; -: standard input");
    add_reductions(app, texts_, "numbers instead of rules, the rows of stats: all, or names with commas between them");
    add_names(app, scan_.tensors, scan_.collection);
    add_batch(app, scan_, texts_);
    add_text(app, "--split-above", texts_.split_above, "SIZE",
             "over many processes: runs whose files have more bytes go before others; 0: the order of the list; "
             "default: 256M");
    add_text(app, "--report", scan_.report, "FILE.html",
             "a page of the results, too: a table of runs and rules; a run's own report is linked where it lies "
             "beside it as NAME.html");
    add_rule_options(app, texts_, known_rules());
    add_steps(app, texts_);
    add_evaluation(app, scan_.check, texts_);
    add_how(app, scan_.check.how, texts_);
    add_runs_from_folders(app, scan_.check.how.storage.formats);
    app.footer(
        "A row for each run and rule; as json with its findings.  A run that cannot be opened is a row, too.\n"
        "Tables begin with what is wrong, and only count the rules that have nothing to look at (see --all).\n"
        "--rule and --rules-json give rules other parameters than their defaults.  all_zero looks at weights and\n"
        "gradients, unchanged_tensor at weights, where it is not told otherwise.\n\n" +
        std::string{conventions});
}

void parser::add_report() {
    CLI::App& app = declare(
        "report", "runs as one page to look at, an HTML file that needs no network; exit status 3 if a rule is met",
        [this] {
            settle(report_, texts_, registry_);
            return report_;
        });
    add_runs(app, report_.check.runs);
    app.add_option("-o,--output", report_.output, "the file, which is replaced when the new one is whole")
        ->required()
        ->type_name("FILE.html");
    add_names(app, report_.tensors, report_.collection);
    add_steps(app, texts_);
    add_rule_options(app, texts_, known_rules());
    app.add_option("--other-trials", texts_.other_trials, "runs to compare with, for rules that compare runs")
        ->type_name("RUN2")
        ->allow_extra_args(false);
    app.add_flag("--no-rules", report_.no_rules, "only the pictures: no rule is evaluated");
    add_text(app, "--threads", texts_.threads, "N", "threads to use; default: 1");
    add_text(app, "--title", report_.title, "TEXT", "what stands at its top; default: the names of the runs");
    add_text(app, "--max-size", texts_.max_size, "SIZE",
             "how large the file may be, about: 5M, 14M (default).  What does not fit is shown less finely");
    add_follow(app, report_.check.follow, texts_,
               "write the page again while the jobs run, until they end; an open page reads it again");
    add_text(app, "--interval", texts_.interval, "T",
             "with --follow: how often a run is looked at: 500ms, 2s (default), 1m");
    add_trust(app, report_.check.how);
    add_formats(app, report_.check.how.storage.formats);
    add_runs_from_folders(app, report_.check.how.storage.formats);
    add_storage(app, report_.check.how.storage);
    app.footer(
        "Of two runs it says since where they differ.  All rules that have something to look at are evaluated;\n"
        "--rule and --rules-json give them other parameters than their defaults.\n"
        "Example: smdebug report runs/a -o a.html\n\n" +
        std::string{conventions});
}

void parser::add_merge() {
    CLI::App& app =
        declare("merge", "databases of results in one: of shards, of machines, of nights", [this] { return merge_; });
    app.add_option("DATABASE", merge_.sources, "databases that scans wrote; they are only read")
        ->required()
        ->type_name("");
    app.add_option("-o,--output", merge_.output, "the database that is made of them")->required()->type_name("FILE");
    app.add_flag("--replace", merge_.replace, "replace the output where it is there already");
    app.footer(
        "Of a run that several have, the one that was looked at to its end wins, then the one scanned last, then\n"
        "the first.  The output takes its place when it is whole.\n"
        "Example: smdebug merge shard-*.db -o all.db\n\n" +
        std::string{conventions});
}

void parser::add_pack() {
    CLI::App& app = declare("pack", "pack runs into one archive that is quick to scan", [this] {
        settle(pack_, texts_);
        return pack_;
    });
    add_runs(app, pack_.runs);
    app.add_option("-o,--output", pack_.output, "the archive: a file of this machine, .tar.zst, .tar.gz or .tar")
        ->required()
        ->type_name("FILE");
    add_text(app, "--level", texts_.level, "N",
             "how hard to compress: zstd 1 to 19, default 3; gzip 1 to 9, default 6");
    add_text(app, "--threads", texts_.threads, "N", "threads to use; default: 1");
    app.add_flag("--replace", pack_.replace, "replace the output where it is there already");
    add_storage(app, pack_.storage);
    app.footer(
        "Index files come first, event files by step, in frames that can each be unpacked alone.  The archive is\n"
        "read back and compared before it takes its place; the runs are only read.\n"
        "Example: smdebug pack runs/2024-* -o 2024.tar.zst --threads 4\n\n" +
        std::string{conventions});
}

void parser::add_export() {
    CLI::App& app = declare("export", "write a run, or a part of it, in a format of other tools", [this] {
        settle(export_, texts_);
        return export_;
    });
    app.add_option("RUN", export_.run, "a training run: a folder, s3://bucket/prefix, or an archive of one run")
        ->required()
        ->type_name("");
    accept(app.add_option_function<std::string>(
                  "--to",
                  [this](const std::string& text) {
                      const auto found = std::find(export_formats.begin(), export_formats.end(), text);
                      export_.to = static_cast<export_format>(found - export_formats.begin());
                  },
                  "npz, csv, tensorboard, safetensors or smdebug, a run of its own")
               ->required()
               ->type_name("FORMAT"),
           {export_formats.begin(), export_formats.end()});
    app.add_option("-o,--output", export_.output,
                   "what is written on this machine: csv a file, the others a folder; npz and safetensors a file "
                   "where it is called so")
        ->required()
        ->type_name("OUT");
    app.add_flag("--replace,--force", export_.replace, "replace the output where it is there already");
    add_names(app, export_.tensors, export_.collection);
    add_steps(app, texts_);
    add_mode(app, texts_, "only steps of TRAIN, EVAL or PREDICT; default: GLOBAL, all");
    add_text(app, "--worker", export_.worker, "W", "only what this worker saved");
    add_reductions(app, texts_, "csv: the columns, as of stats; default: all");
    app.add_flag("--values", export_.values, "csv: a row for each element instead of each tensor");
    app.add_flag("--as-tensors", export_.whole_tensors,
                 "tensorboard: tensors as they are instead of curves and histograms");
    add_text(app, "--threads", texts_.threads, "N", "csv: threads to use; default: 1");
    add_trust(app, export_.how);
    add_formats(app, export_.how.storage.formats);
    add_storage(app, export_.how.storage);
    app.footer(
        "npz          step_000000500.npz for each step; FILE.npz: of one step, or of one tensor over its steps,\n"
        "             stacked, with their numbers in \"steps\".  bfloat16 becomes float32, as does float8\n"
        "safetensors  step_000000500.safetensors for each step; not: complex numbers and strings\n"
        "csv          the rows of stats --format csv; --values: run,tensor,worker,step,mode,mode_step,index,value\n"
        "tensorboard  train, validation, ... with an event file each, by the steps of the mode\n"
        "smdebug      a run with only what is selected\n"
        "What is written takes its place when it is whole.  What cannot be read, or has no place in the format, "
        "is\n"
        "named and left out; the exit status is then 1.\n"
        "Example: smdebug export runs/a --to npz --collection weights --steps 100:200 -o weights\n\n" +
        std::string{conventions});
}

void parser::add_rules() {
    CLI::App& app = declare("rules", "list the built-in rules, their parameters, types and defaults", [this] {
        settle(listed_, texts_, registry_);
        return listed_;
    });
    offer(app.add_option("RULE", listed_.rules, "only these rules; default: all")->type_name(""), {known_rules()});
    add_format(app, listed_.format, texts_);
}

void parser::add_index() {
    CLI::App& app =
        declare("index", "write ARCHIVE.smdx beside an archive, by which it is opened without reading it through",
                [this] { return index_; });
    app.add_option("ARCHIVE", index_.archives, "archives: .tar, .tar.gz, .tar.zst, here or s3://bucket/key")
        ->required()
        ->type_name("");
    add_storage(app, index_.storage);
    app.footer(
        "An index says where the files of an archive are, and keeps what inflating from its middle takes.  It is\n"
        "passed over once the archive has another size, time (S3: ETag), head or tail.  None is written where it\n"
        "would spare nothing: of a zip, of a single frame of zstd, of what is smaller than 1 MiB.\n\n" +
        std::string{conventions});
}

void parser::add_repair() {
    CLI::App& app = declare("repair", "a new index for a run whose own is missing or damaged, from its event files",
                            [this] { return repair_; });
    add_runs(app, repair_.runs);
    app.add_flag("--dry-run", repair_.dry_run, "only say what would be done");
    add_storage(app, repair_.storage);
    app.footer(
        "Event files are only read.  An index file that is replaced is kept under its name and \".damaged\".  "
        "Records\n"
        "that are damaged or cut are left out and named; exit status 1 then.  Not for a run that is being "
        "written.\n"
        "A run without its index can be looked at without repairing it, too.\n\n" +
        std::string{conventions});
}

void parser::add_completion() {
    CLI::App& app = declare("completion", "print what a shell needs to complete commands and options",
                            [this] { return help_request{completion_script(app_.get_name(), shell_)}; });
    accept(app.add_option("SHELL", shell_, "bash, zsh or fish")->required()->type_name(""),
           {completed_shells.begin(), completed_shells.end()});
    app.footer(
        "Packages install it where shells look.  Elsewhere, for this shell alone:\n"
        "Example: source <(smdebug completion bash)\n"
        "         source <(smdebug completion zsh)\n"
        "         smdebug completion fish | source\n\n" +
        std::string{conventions});
}

void parser::add_manual() {
    CLI::App& app = declare("manual", "print a manual page, of the program or of a command, for man", [this] {
        manual_.pages =
            manual_.folder ? all_manual_pages(table()) : std::vector<manual_page>{page_of(table(), manual_command_)};
        return manual_;
    });
    // Of commands there are some more below: help is the last.
    std::vector<std::string> names = command_names();
    names.emplace_back("help");
    CLI::Option* const one = accept(
        app.add_option("COMMAND", manual_command_, "the command; default: the program itself")->type_name(""), names);
    app.add_option("-o,--output", manual_.folder,
                   "write the pages of the program and of all commands into this folder instead")
        ->type_name("DIR")
        ->excludes(one);
    app.footer("Example: smdebug manual scan | man -l -\n\n" + std::string{conventions});
}

void parser::add_help() {
    CLI::App& app = *app_.add_subcommand("help", "what a command does, and its options");
    std::vector<std::string> names = command_names();
    accept(app.add_option("COMMAND", manual_command_, "the command; default: the program itself")->type_name(""),
           names);
}

command_table table_of_commands(const program_rules& registry) { return parser{registry}.table(); }

command parse_arguments(std::vector<std::string> arguments, const program_rules& registry,
                        const std::string& defaults) {
    detail::parser parser{registry, defaults};
    return parser.parse(std::move(arguments));
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
