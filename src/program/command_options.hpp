// Options that several commands have, described to CLI11.
#pragma once

#include <program/evaluate_run.hpp>
#include <program/option_texts.hpp>
#include <program/rows.hpp>
#include <program/runs.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {

class App;
class Error;
class Option;

}  // namespace CLI

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// "0.1.0".
[[nodiscard]] std::string release_text();

/// "0.1.0, reduces with avx512bw".
[[nodiscard]] std::string version_text();

/// The words that shells offer for an option's value.
struct offered {
    std::vector<std::string> values = {};
    bool with_commas = false;  ///< several at once, with commas between them
};

/// Shells are to offer these words.  The option takes other texts, too: who settles it says what is wrong with them.
CLI::Option* offer(CLI::Option* option, const offered& words);

/// The option takes one of these words and no other text, and shells offer them.
CLI::Option* accept(CLI::Option* option, const std::vector<std::string>& words, bool in_any_case = false);

/// What offer() or accept() said of an option; nothing: neither was called.
[[nodiscard]] offered offered_for(CLI::Option& option);

// What is bound to an option must outlive the app.

CLI::Option* add_text(CLI::App& app, const std::string& flag, std::optional<std::string>& to, const std::string& type,
                      const std::string& help);

/// --mode: its names are offered, and taken in any case.
void add_mode(CLI::App& app, option_texts& texts, const std::string& help);

/// --reductions: columns of statistics, or all of them.
void add_reductions(CLI::App& app, option_texts& texts, const std::string& help);

/// What CLI11 says, or more for an unknown option.  `others`: commands that may have an option that `app` has not.
[[nodiscard]] std::string text_of_error(const CLI::Error& wrong, const CLI::App& app,
                                        const std::vector<CLI::App*>& others = {});

void add_format(CLI::App& app, output_format& format, option_texts& texts);

void add_formats(CLI::App& app, format_options& formats);

void add_storage(CLI::App& app, storage_options& storage);

void add_runs_from_folders(CLI::App& app, format_options& formats);

/// What is done about runs that are damaged, and about those that may come from anybody.
void add_trust(CLI::App& app, run_options& how);

void add_how(CLI::App& app, run_options& how, option_texts& texts);

void add_runs(CLI::App& app, std::vector<std::string>& runs);

/// Which tensors.
void add_names(CLI::App& app, std::optional<std::string>& regex, std::optional<std::string>& collection);

void add_steps(CLI::App& app, option_texts& texts);

void add_follow(CLI::App& app, follow_options& follow, option_texts& texts, const std::string& help);

/// Which rules.  `known`: their names, for shells.
void add_rule_options(CLI::App& app, option_texts& texts, const std::vector<std::string>& known = {});

/// How rules are evaluated, and what is done about findings.
void add_evaluation(CLI::App& app, check_arguments& to, option_texts& texts);

/// The same where the app has no option of that name: a rule's own settings come first.
void add_new_text(CLI::App& app, const std::string& flag, std::optional<std::string>& to, const std::string& type,
                  const std::string& help);

/// How many runs are worked on.
void add_batch(CLI::App& app, scan_arguments& to, option_texts& texts);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
