// What opening a run begins with: the wait until every worker has written its collections file; the options that
// environment variables set, and trial_options settled with them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/run_contents.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace smdebug::inline v1 {
namespace detail {

/// Waits until a run's collections files are complete, or its source has found something.  Borrows everything, for its
/// life.
class collections_wait {
public:
    /// `source`: null, or the source that replaces the run's own files; then `contents` has what it found.
    collections_wait(const any_storage& store, const trial_options& options, json::document& parser,
                     any_catalog_source* source, run_contents& contents)
        : store_(store), options_(options), parser_(parser), source_(source), contents_(contents) {}

    /// The job as the source describes it so far.
    [[nodiscard]] static catalog::job_description job_of(const run_contents& contents);

    /// What the collections files say, once they are complete; or the source's contents, once it has found anything.
    /// `seen_running` becomes true if the job was seen without its end-of-job mark.
    /// Errors: not_found (no run here), missing_collection_files (it has ended without them),
    ///         corrupt_collections_file, timed_out, stopped_error, and what the storage throws.
    [[nodiscard]] catalog::job_description wait(bool& seen_running);

    /// What the collections files say now; nothing while one is missing or half written.      Errors: as wait().
    [[nodiscard]] std::optional<catalog::job_description> look(bool& seen_running);

private:
    [[nodiscard]] std::string place() const { return store_.name(); }

    [[nodiscard]] std::optional<catalog::job_description> ask_source(bool& seen_running);

    // Returns false for a file that a running job may be writing right now.
    [[nodiscard]] bool read(const std::string& key, bool ended, catalog::job_description& job);

    [[nodiscard]] byte_buffer read_within_limit(const std::string& key) const;

    void check_size(const std::string& key, std::uint64_t size) const;

    [[noreturn]] void give_up() const;

    const any_storage& store_;
    const trial_options& options_;
    json::document& parser_;
    any_catalog_source* source_;
    run_contents& contents_;
    std::string missing_;  // missing so far
    std::string cut_;      // incomplete so far
    std::string cut_key_;
};

}  // namespace detail

namespace environment {

inline constexpr const char* incomplete_step_wait_window = "SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW";
inline constexpr const char* training_end_delay_refresh = "SMDEBUG_TRAINING_END_DELAY_REFRESH";
inline constexpr const char* missing_event_file_retry_limit = "SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT";

/// The option, else the environment variable of that name, else `otherwise`; at least `least`.
/// Errors: value_error that names the variable and its value.
[[nodiscard]] int number(const std::optional<int>& option, const char* name, int otherwise, int least);

/// The option, else the environment variable of that name, in seconds, fractions allowed; else 0.
/// Errors: value_error that names the variable and its value.
[[nodiscard]] std::chrono::milliseconds delay(const std::optional<std::chrono::milliseconds>& option, const char* name);

}  // namespace environment

namespace detail {

/// trial_options with the environment applied, and checked.
struct settled_options {
    int incomplete_step_wait_window = 0;
    int missing_event_file_retry_limit = 0;
    std::chrono::milliseconds training_end_delay_refresh{0};

    /// Errors: value_error for an impossible range or number.
    explicit settled_options(const trial_options& options);
};

}  // namespace detail

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/load/impl/opening.ipp>
#endif
