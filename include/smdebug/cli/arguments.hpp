// The command line, parsed: the only header that includes CLI11.
// Everything that can be wrong with arguments is found here, before a run is opened.
// Used by: cli/program.hpp.
#pragma once

#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/ls.hpp>
#include <smdebug/cli/numbers.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/rule_list.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/cli/rules_json.hpp>
#include <smdebug/cli/runs.hpp>
#include <smdebug/cli/show.hpp>
#include <smdebug/cli/stats.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/version.hpp>
#include <smdebug/trial/regex.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// --help or --version: what to print.
struct help_request {
    std::string text;
};

/// What the user asked for.
using command =
    std::variant<help_request, ls_arguments, show_arguments, stats_arguments, check_arguments, rules_arguments>;

/// "0.1.0".
[[nodiscard]] inline std::string version_text() {
    return std::to_string(SMDEBUG_VERSION_MAJOR) + "." + std::to_string(SMDEBUG_VERSION_MINOR) + "." +
           std::to_string(SMDEBUG_VERSION_PATCH);
}

namespace detail {

/// The parser: it describes the options to CLI11 and fills the arguments of each command.
class parser {
public:
    parser() {
        app_.set_version_flag("--version", "smdebug " + version_text());
        app_.require_subcommand(1);
        app_.footer(
            "Results go to standard output, notes and errors to standard error.\n"
            "Exit status: 0 nothing found, 1 error, or part of a run could not be read, 2 wrong usage,\n"
            "             3 a rule's condition was met.\n"
            "`smdebug COMMAND --help` tells more.");
        add_ls();
        add_show();
        add_stats();
        add_check();
        add_rules();
    }

    [[nodiscard]] command parse(std::vector<std::string> arguments) {
        if (arguments.empty()) {
            throw usage_error("a command is missing\n\n" + app_.help());
        }
        const auto commands = command_names();
        if (!arguments.front().starts_with('-') &&
            std::find(commands.begin(), commands.end(), arguments.front()) == commands.end()) {
            throw usage_error("there is no command \"" + arguments.front() + "\"; there are: " +
                              joined(commands, ", ") + "." + suggestion(arguments.front(), commands));
        }
        std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
        try {
            app_.parse(std::move(arguments));
        } catch (const CLI::CallForVersion& asked) {
            return help_request{std::string{asked.what()} + "\n"};
        } catch (const CLI::CallForHelp&) {
            const auto chosen = app_.get_subcommands();
            return help_request{chosen.empty() ? app_.help() : chosen.front()->help("smdebug")};
        } catch (const CLI::Error& wrong) {
            const auto chosen = app_.get_subcommands();
            throw usage_error(std::string{wrong.what()} + "\nTry `smdebug " +
                              (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help`.");
        }
        return finished(app_.get_subcommands().front()->get_name());
    }

private:
    [[nodiscard]] std::vector<std::string> command_names() const {
        std::vector<std::string> names;
        for (const CLI::App* held : app_.get_subcommands({})) {
            names.push_back(held->get_name());
        }
        return names;
    }

    static void add_text(CLI::App& app, const std::string& flag, std::optional<std::string>& to,
                         const std::string& type, const std::string& help) {
        app.add_option_function<std::string>(
               flag, [&to](const std::string& text) { to = text; }, help)
            ->type_name(type);
    }
    static void add_format(CLI::App& app, output_format& format) {
        app.add_option_function<std::string>(
               "--format",
               [&format](const std::string& text) {
                   format = text == "csv" ? output_format::csv
                                          : (text == "json" ? output_format::json : output_format::table);
               },
               "table (default), csv, or json: one object a line")
            ->type_name("FORMAT")
            ->check(CLI::IsMember({"table", "csv", "json"}, CLI::ignore_case).description(""));
    }
    static void add_how(CLI::App& app, run_options& how) {
        add_format(app, how.format);
        app.add_flag("--skip-damaged", how.skip_damaged,
                     "go on without index files that are damaged, and name them; else they are an error");
    }
    static void add_runs(CLI::App& app, std::vector<std::string>& runs) {
        app.add_option("RUN", runs, "folders of training runs")->required()->type_name("");
    }

    void add_ls() {
        CLI::App& app = *app_.add_subcommand("ls", "what runs hold: workers, modes, steps, collections, tensors");
        add_runs(app, ls_.runs);
        add_how(app, ls_.how);
    }

    void add_show() {
        CLI::App& app = *app_.add_subcommand("show", "one tensor at one step: shape, dtype, reductions, first values");
        app.add_option("RUN", show_.run, "folder of a training run")->required()->type_name("");
        app.add_option("TENSOR", show_.tensor, "name of a tensor")->required()->type_name("");
        add_text(app, "--step", step_, "S", "the step, in --mode; default: the last one that has the tensor");
        add_text(app, "--worker", show_.worker, "W", "the worker; default: the first by name that saved it");
        add_text(app, "--mode", mode_, "M", "GLOBAL (default), TRAIN, EVAL or PREDICT: what --step counts");
        add_text(app, "--values", values_, "N", "how many values to show; default: 10");
        add_how(app, show_.how);
    }

    void add_stats() {
        CLI::App& app = *app_.add_subcommand("stats", "reductions of every tensor: a row for each worker and step");
        add_runs(app, stats_.runs);
        add_text(app, "--threads", threads_, "N", "threads to use; default: 1");
        add_text(app, "--tensors", stats_.tensors, "REGEX", "only tensors in whose name this is found");
        add_text(app, "--collection", stats_.collection, "C", "only tensors of this collection");
        add_text(app, "--steps", steps_, "A:B",
                 "only global steps from A up to, not including, B; either may be left out");
        add_text(app, "--reductions", reductions_, "LIST",
                 "the columns, in this order: min max mean std variance sum prod l1 l2, each also with abs_ before "
                 "it, nan, pos_inf, neg_inf, zeros, with commas between them; default: all");
        add_how(app, stats_.how);
        app.footer(
            "A reduction that the job saved is shown as it was saved; the others are computed from the values.\n"
            "A cell is empty where there is no such number: strings, values that were not saved.\n"
            "Example: smdebug stats runs/a --collection gradients --reductions abs_mean,nan --format csv");
    }

    void add_check() {
        CLI::App& app =
            *app_.add_subcommand("check", "evaluate rules at every saved step; exit status 3 if one is met");
        add_runs(app, check_.runs);
        app.add_option("--rule", rules_, "a rule and its parameters: NAME,key=value,key=value; may be given again")
            ->type_name("RULE")
            ->allow_extra_args(false);
        add_text(app, "--rules-json", rules_json_, "FILE",
                 R"(rules from a file: [{"rule": NAME, "parameters": {"key": "value", "list": ["a", "b"]}}, ...])");
        app.add_option("--other-trials", other_trials_, "runs to compare with, for rules that compare runs")
            ->type_name("RUN2")
            ->allow_extra_args(false);
        add_text(app, "--start", start_, "S", "the first global step; default: 0");
        add_text(app, "--end", end_, "E", "the global step to stop before; default: the end of the run");
        add_how(app, check_.how);
        app.footer("Rules: " + rule_names() +
                   " (`smdebug rules` lists their parameters).\n"
                   "In --rule, a comma separates parameters and a semicolon the items of a list; a backslash before\n"
                   "either makes it part of the value.\n"
                   "Example: smdebug check runs/a --rule vanishing_gradient,threshold=1e-6 \\\n"
                   "             --rule 'exploding_tensor,collection_names=losses;gradients,only_nan=True'");
    }

    void add_rules() {
        CLI::App& app = *app_.add_subcommand("rules", "list the built-in rules, their parameters, types and defaults");
        add_format(app, listed_.format);
    }

    [[nodiscard]] command finished(const std::string& name) {
        if (name == "ls") {
            return ls_;
        }
        if (name == "show") {
            return finished_show();
        }
        if (name == "stats") {
            return finished_stats();
        }
        if (name == "check") {
            return finished_check();
        }
        return listed_;
    }

    [[nodiscard]] command finished_show() {
        if (mode_) {
            std::string upper = *mode_;
            std::transform(upper.begin(), upper.end(), upper.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - ('a' - 'A')) : c; });
            const auto known = mode_named(upper);
            if (!known) {
                throw usage_error("--mode must be GLOBAL, TRAIN, EVAL or PREDICT, not \"" + *mode_ + "\"");
            }
            show_.mode = *known;
        }
        if (step_) {
            show_.step = whole_number<step_number>("--step", *step_, 0);
        }
        if (values_) {
            show_.values = whole_number<std::size_t>("--values", *values_, 0);
        }
        return show_;
    }

    [[nodiscard]] command finished_stats() {
        if (threads_) {
            stats_.threads = whole_number<unsigned>("--threads", *threads_, 1);
            if (stats_.threads > 1024) {
                throw usage_error("--threads must be 1024 or less");
            }
        }
        if (stats_.tensors) {
            try {
                static_cast<void>(regex{*stats_.tensors});
            } catch (const value_error& bad) {
                throw usage_error("--tensors: " + std::string{bad.message()});
            }
        }
        if (steps_) {
            stats_.how.range = parse_range(*steps_);
        }
        if (reductions_) {
            stats_.statistics = parse_statistics(*reductions_);
        }
        return stats_;
    }

    [[nodiscard]] command finished_check() {
        for (const std::string& text : rules_) {
            check_.rules.push_back(parse_rule(text));
        }
        if (rules_json_) {
            const auto more = read_rules_json(*rules_json_);
            check_.rules.insert(check_.rules.end(), more.begin(), more.end());
        }
        if (check_.rules.empty()) {
            throw usage_error("check needs at least one rule, by --rule or --rules-json; there are: " + rule_names() +
                              "\nTry `smdebug check --help`.");
        }
        if (!other_trials_.empty()) {
            throw usage_error("--other-trials: none of the rules chosen compares runs");
        }
        check_.start = start_ ? whole_number<step_number>("--start", *start_, 0) : 0;
        if (end_) {
            check_.end = whole_number<step_number>("--end", *end_, 0);
            if (*check_.end <= check_.start) {
                throw usage_error("--end must be above --start, as it is not included");
            }
        }
        return check_;
    }

    CLI::App app_{"Looks into training runs that Amazon's package smdebug, or this library, has saved.", "smdebug"};
    ls_arguments ls_;
    show_arguments show_;
    stats_arguments stats_;
    check_arguments check_;
    rules_arguments listed_;
    std::optional<std::string> step_, mode_, values_, threads_, steps_, reductions_, rules_json_, start_, end_;
    std::vector<std::string> rules_;
    std::vector<std::string> other_trials_;
};

}  // namespace detail

/// The command in the arguments (without the program's name).  Errors: usage_error.
[[nodiscard]] inline command parse_arguments(std::vector<std::string> arguments) {
    detail::parser parser;
    return parser.parse(std::move(arguments));
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
