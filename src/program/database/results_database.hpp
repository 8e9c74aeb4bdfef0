// Results of a batch in a database of SQLite: written a run at a time, and known the next time.
// The README has its tables, and what survives which failure.  Of the component `batch`, which needs SQLite.
#pragma once

#include <smdebug/batch/row_spool.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/function_ref.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {

/// A database of results.  A run is there whole or not at all, and once: new results of a path replace the old ones.  A
/// local path stands for the same run, whatever the current folder.
/// Threads: one at a time.  Not for forked children.
/// Errors:  of all calls: in_use (another program went on writing for `patience`), unavailable (no room left, a disk
///          that fails), access_denied, corrupt_data (the file is damaged); the call then changed nothing, and may be
///          tried again.
class results_database {
public:
    /// Opens the file, or makes it; its folder must be there.
    /// Errors: besides those above not_found (no such folder), corrupt_data (not a database), unsupported (it is
    ///         another program's, or of a newer version of this library): such a file is left as it is.
    /// `alone`: no other program may open it meanwhile, not even to read; then SQLite needs no shared memory, which a
    ///          network file system cannot provide.
    explicit results_database(const std::string& path, std::chrono::milliseconds patience = std::chrono::seconds{10},
                              bool alone = false);
    results_database(results_database&&) noexcept;
    results_database& operator=(results_database&&) noexcept;
    results_database(const results_database&) = delete;
    results_database& operator=(const results_database&) = delete;
    /// Rolls back what was begun and not ended.
    ~results_database();

    [[nodiscard]] const std::string& path() const noexcept;

    /// The version at which the run at `path` was scanned to its end (ended, growing, incomplete) with this question, as
    /// stored now: at that version it need not be scanned again.  Nothing if its version is not known.
    /// `question`: a text that differs whenever rules, settings or selections differ.
    [[nodiscard]] std::optional<std::string> done_version(std::string_view path, std::string_view question);
    /// Path and version of that run, and if it is an archive of those in it: "jobs.tar!/job-17".
    void for_each_done_in(std::string_view path, std::string_view question,
                          function_ref<void(std::string_view path, std::string_view version)> take);
    /// Stores a run, with its reductions if it has any, in one transaction; its earlier results are removed.
    /// Errors: besides those above value_error (a text above 10^9 bytes).
    void write(const run_result& result, std::string_view question);

    /// Everything written from here to end_group() is committed together, or not at all, at a fraction of the cost.  If
    /// a call throws meanwhile, close the database: the rest of the group is rolled back.
    void begin_group();
    void end_group();

    /// Marks runs as `gone`, for the reason `why`: the run at `path`, those in it if it is an archive, and those below
    /// it if it is a folder, if is_gone() is true for the part after `path`: "", "!/job-17", "/job-17".  Returns how
    /// many.  Their results stay, but not in `first_findings`.
    std::size_t mark_gone(std::string_view path, std::string_view why,
                          function_ref<bool(std::string_view behind)> is_gone);
    /// What is stored about a skipped run.
    [[nodiscard]] passed_run passed(std::string_view path);
    /// What is stored about a run, without its reductions.
    [[nodiscard]] std::optional<run_result> find(std::string_view path);
    /// Calls with each stored run's place in its list, its path, and its question, by place, then in the order of
    /// writing.  The path is as given, or absolute if the given one means another run in this folder.
    void for_each_run(function_ref<void(std::uint64_t place, std::string_view path, std::string_view question)> take);
    /// Its reductions, in the order in which they were added.  `take` does not call this again.
    void for_each_reduction(std::string_view path, function_ref<void(const reduction_row&)> take);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace smdebug::inline v1
