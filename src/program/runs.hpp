// Opens the runs of a command, one after another; a failing run does not affect the others.
#pragma once

#include <program/console.hpp>
#include <program/rows.hpp>
#include <program/run_places.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/lookup.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/selection.hpp>
#include <smdebug/trial/trial.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Options of every command that reads runs.
struct run_options {
    output_format format = output_format::table;
    bool format_is_given = false;
    bool skip_damaged = false;
    bool untrusted = false;                    ///< size_limits::untrusted(); `storage` says the same of archives
    std::optional<std::uint64_t> memory = {};  ///< memory limit for a run, in bytes
    step_range range = {};
    std::optional<std::size_t> width = {};  ///< of tables, in characters; any if 0; that of the terminal if unset
    storage_options storage = {};
    std::vector<std::string> folders = {};  ///< with --runs-from-folders: where the runs were looked for
    std::stop_token stop = {};              ///< ends what waits
};

/// Options of the commands that can follow running jobs.
struct follow_options {
    bool on = false;
    std::optional<std::chrono::milliseconds> give_up_after = {};  ///< after so long without anything new
};

/// The tensors selected by --tensors and --collection: those in both, if both are given.
[[nodiscard]] tensor_selection selection_of(const std::optional<std::string>& tensors,
                                            const std::optional<std::string>& collection);

/// For a command that reduces what it reads: a compressed archive is then inflated once, on so many threads.
[[nodiscard]] run_options reducing(run_options how, unsigned threads = 1);

/// A run's path as given, without trailing slashes, except those of an address (s3://, file:///).
[[nodiscard]] std::string plain_path(std::string path);

/// An error's text, naming command-line options, and the run if the text does not name it.
[[nodiscard]] std::string error_text(const error& failed, const std::string& run);

/// Any exception's text, naming command-line options, and the run where an error does not name it.
[[nodiscard]] std::string error_text(const std::exception& failed, const std::string& run);

/// The text of the error for a failed look-up.
[[nodiscard]] std::string failure_text(const lookup_error& failure, const std::string& tensor, step_number step,
                                       mode in, const std::string& run);

/// The options of a trial for it.
[[nodiscard]] trial_options options_for(const run_options& how);

/// Opens the run at `path`.  Errors: as create_trial's.
[[nodiscard]] trial open_trial(const std::string& path, const storage_options& storage, trial_options options);

/// Opens the data at a place as a run.  Errors: as create_trial's.
[[nodiscard]] any_storage storage_of(const run_place& place, const run_options& how);

/// The error that there is no run, with the kind that --as named, and a suggestion.
[[nodiscard]] not_found described(const not_found& missing, const std::string& path, const run_options& how);

/// Whether there is a key with one of these prefixes.
[[nodiscard]] bool has_any(const any_storage& store, std::initializer_list<std::string_view> prefixes);

/// What the service says of a job that has ended without saving anything.
inline constexpr std::string_view nothing_saved = "No debugging data was saved by the training job";

/// Errors: not_found, in those words, for a run whose job has ended without a step.
void check_saved(const trial& run, const std::string& path);

/// Opens a run for a command: what exists now, without waiting.  `store` comes from storage_of().
/// Errors: as create_trial's; where there is no run, with what the user may have meant; missing_collection_files, in
/// the words above, for a job that has ended without saving anything; value_error: an empty path.
[[nodiscard]] trial open_run(any_storage store, const std::string& path, const run_options& how);
[[nodiscard]] trial open_run(const run_place& place, const run_options& how);
[[nodiscard]] trial open_run(const std::string& path, const run_options& how);

/// The single run at a path; `done`: the verb for messages.
/// Errors: those of open_run(); value_error for an archive of several.
[[nodiscard]] trial open_one_run(const std::string& path, const run_options& how, std::string_view done);

/// The steps of a run as ranges; by mode where global steps are synthetic: "TRAIN 0-20 by 10; EVAL 0, 20".
[[nodiscard]] std::string shown_steps(const smdebug::detail::catalog& from, bool show_incomplete);

/// Does something with the run at `path`.  What that throws is printed, and given as text; nothing if it went well.
/// What ends the command goes through: usage_error, output_error, stopped_error.
[[nodiscard]] std::optional<std::string> try_on_run(const std::string& path, console& to, function_ref<void()> work);

/// The command for each run, and the handler for one that fails, with the error's text.
using run_command = function_ref<void(const std::string& path, const trial& run)>;
using run_failure = function_ref<void(const std::string& path, const std::string& text)>;

/// Calls command(path, trial) for each run, and says what of the run was not looked at.  Where a run cannot be opened,
/// or the command throws, the error is printed and passed to failed(path, text), and the next run follows, as
/// try_on_run() does. An archive stands for all runs in it.
void for_each_run(const std::vector<std::string>& paths, const run_options& how, console& to, run_command command,
                  run_failure failed);
void for_each_run(const std::vector<std::string>& paths, const run_options& how, console& to, run_command command);

}  // namespace smdebug::inline v1::cli::detail
