// How commands declare options to CLI11, and the options that several commands share.
#pragma once

#include <program/evaluate_run.hpp>
#include <program/rows.hpp>
#include <program/rule_set.hpp>
#include <program/runs.hpp>
#include <program/scan_arguments.hpp>
#include <program/shard.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {

class App;
class Error;
class Option;

}  // namespace CLI

namespace smdebug::inline v1::cli::detail {

/// The end of every command's help.
inline constexpr std::string_view conventions =
    "Results go to standard output, notes and errors to standard error.\n"
    "Exit status: 0 nothing found, and everything could be read; 1 error, or part of a run could not be read;\n"
    "             2 wrong usage; 3 a rule's condition was met, or two runs differ; 4 both 3 and 1; 130 interrupted.";

/// "0.1.0".
[[nodiscard]] std::string release_text();

/// "0.1.0, reduces with avx512bw".
[[nodiscard]] std::string version_text();

/// The words that shells offer for an option's value.
struct offered {
    std::vector<std::string> values = {};
    bool with_commas = false;  ///< several at once, with commas between them
};

/// Shells complete these words.  The option accepts other texts, too; the code that parses them reports errors.
CLI::Option* offer(CLI::Option* option, const offered& words);

/// The option takes one of these words and no other text, and shells offer them.
CLI::Option* accept(CLI::Option* option, const std::vector<std::string>& words, bool in_any_case = false);

/// What offer() or accept() said of an option; nothing if neither was called.
[[nodiscard]] offered offered_for(CLI::Option& option);

/// CLI11's message, with more detail for an unknown option.  `others`: commands that may have an option that `app`
/// lacks.
[[nodiscard]] std::string text_of_error(const CLI::Error& wrong, const CLI::App& app,
                                        const std::vector<CLI::App*>& others = {});

// What is bound to an option must outlive the app.  What reads a text may throw usage_error.

/// An option whose text is read by a function; of several names, with commas between them, the first is the usual one.
CLI::Option* add_read(CLI::App& app, const std::string& flags, std::function<void(const std::string&)> read,
                      const std::string& type, const std::string& help);

/// An option that stores what a function returns for the text.
template <class To, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& flags, To& to, const std::string& type,
                        const std::string& help, Parse parse) {
    return add_read(
        app, flags, [&to, parse = std::move(parse)](const std::string& text) { to = parse(text); }, type, help);
}

/// An option with a text value.
template <class To>
CLI::Option* add_text(CLI::App& app, const std::string& flags, To& to, const std::string& type,
                      const std::string& help) {
    return add_parsed(app, flags, to, type, help, [](const std::string& text) { return text; });
}

/// An option that may be given again, each time with one text.
CLI::Option* add_texts(CLI::App& app, const std::string& flags, std::vector<std::string>& to, const std::string& type,
                       const std::string& help);

CLI::Option* add_flag(CLI::App& app, const std::string& flags, bool& to, const std::string& help);

/// An argument that must be given.
CLI::Option* add_argument(CLI::App& app, const std::string& name, std::string& to, const std::string& help);
/// Arguments; at least one must be given if they are required.
CLI::Option* add_arguments(CLI::App& app, const std::string& name, std::vector<std::string>& to,
                           const std::string& help, bool required = true);

/// A required option with these words as values; `take` gets the chosen one.
void add_choice(CLI::App& app, const std::string& flag, const std::string& type, const std::vector<std::string>& words,
                const std::string& help, std::function<void(const std::string&)> take);

/// -o, --output, which must be given.
void add_output(CLI::App& app, std::string& to, const std::string& type, const std::string& help);

/// Lines below the options in the help, before the conventions.
void add_notes(CLI::App& app, const std::string& lines);

/// --mode: its names are offered, and taken in any case.
void add_mode(CLI::App& app, smdebug::mode& to, const std::string& help);

/// --reductions: columns of statistics, or all of them.
void add_reductions(CLI::App& app, std::optional<std::vector<statistic>>& to, const std::string& help);

void add_threads(CLI::App& app, unsigned& to, const std::string& help);
/// As many as given; for 0, as many as there are CPUs.
[[nodiscard]] unsigned threads_or_all(unsigned threads);

void add_shard(CLI::App& app, std::optional<run_shard>& to, const std::string& help);

void add_formats(CLI::App& app, format_options& formats);

void add_storage(CLI::App& app, storage_options& storage);

void add_runs_from_folders(CLI::App& app, format_options& formats);

/// Options for damaged and for untrusted runs.
void add_trust(CLI::App& app, run_options& how);

/// --format and --width.  `is_given`: set if --format is given; may be null.
void add_table_format(CLI::App& app, output_format& format, std::optional<std::size_t>& width,
                      bool* is_given = nullptr);

void add_how(CLI::App& app, run_options& how);

void add_runs(CLI::App& app, std::vector<std::string>& runs);

/// --tensors and --collection.
void add_names(CLI::App& app, std::optional<std::string>& regex, std::optional<std::string>& collection);

/// --steps, where it selects what is read.
void add_steps(CLI::App& app, step_range& to);

void add_follow(CLI::App& app, follow_options& follow, const std::string& help);
/// Errors: usage_error.
void check_follow(const follow_options& follow, std::size_t runs);

/// Rules from the command line.
struct rule_options {
    std::vector<std::string> rules = {};  ///< "NAME,key=value"
    std::optional<std::string> json = {};
    std::vector<std::string> other_trials = {};
};

/// --rule and --rules-json.  `known`: names of rules, for shells.
void add_rule_options(CLI::App& app, rule_options& to, const std::vector<std::string>& known = {});
void add_other_trials(CLI::App& app, rule_options& to);

/// The requested rules, checked as far as possible without a run; `by_scan`: as a scan evaluates them.
/// Errors: usage_error.
[[nodiscard]] std::vector<rule_request> requested_rules(const rule_options& asked, const program_rules& registry,
                                                        bool by_scan);

/// The steps at which rules are evaluated, from the command line.
struct step_options {
    std::optional<step_range> steps = {};
    std::optional<step_number> start = {};
    std::optional<step_number> end = {};
};

/// --steps, where rules are evaluated.
void add_steps(CLI::App& app, step_options& to);

/// Options for evaluating rules, and for actions on findings.
void add_evaluation(CLI::App& app, check_arguments& to, rule_options& rules, step_options& steps);

/// Fills in the steps.  Errors: usage_error.
void take_steps(check_arguments& args, const step_options& asked);

/// Options of a batch; options that the app already has, a rule's own settings, take precedence.
void add_batch(CLI::App& app, scan_arguments& to);

}  // namespace smdebug::inline v1::cli::detail
