// Results of a batch in a database of SQLite: written a run at a time, and known the next time.
// The README has its tables, and what survives which failure.  Of the component `batch`, which needs SQLite.
#pragma once

#include <smdebug/batch/reduction_row.hpp>
#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/function_ref.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// A database of results.  A run is there whole or not at all, and once: what is written of a path takes the place of
/// what was there before.  A path of this machine stands for the same run whatever the folder that it is written from.
/// Threads: const calls may run at once, while no other does.  Not for forked children. Errors of all calls: in_use
/// (another program went on writing for `patience`), unavailable (no room left, a disk that fails), access_denied,
/// corrupt_data (the file is damaged); the call then changed nothing, and may be tried again.
class results_database {
public:
    /// Opens the file, or makes it; its folder must be there.
    /// Errors: besides those above not_found (no such folder), corrupt_data (it is no database), unsupported (it is
    ///         another program's, or of a newer version of this library): such a file is left as it is.
    /// `alone`: no other program may open it meanwhile, not even to read; so SQLite shares no memory with others, which it
    ///          cannot on a network's file system.
    /// Cost: reading path, version and question of each run; 16 to 32 bytes of memory for each that is done.
    explicit results_database(const std::string& path, std::chrono::milliseconds patience = std::chrono::seconds{10},
                              bool alone = false);
    results_database(results_database&&) noexcept;
    results_database& operator=(results_database&&) noexcept;
    results_database(const results_database&) = delete;
    results_database& operator=(const results_database&) = delete;
    /// What was begun and not ended is undone.
    ~results_database();

    [[nodiscard]] const std::string& path() const noexcept;

    /// Whether the run was looked at to its end (ended, growing, incomplete) at this version, and asked this question: then it need
    /// not be again.  Never where its version is not known.  Reads nothing: about runs that another program wrote since
    /// the opening it does not know.
    /// `question`: a text that is another one whenever other rules, settings or selections are asked for.
    [[nodiscard]] bool is_done(const batch_run& run, std::string_view question) const;
    /// The version at which the run at `path` is done, if it is: as is_done() has it, of what is stored now.
    [[nodiscard]] std::optional<std::string> done_version(std::string_view path, std::string_view question);
    /// Path and version of that run, and of those in it, should it be an archive: "jobs.tar!/job-17".
    void for_each_done_in(std::string_view path, std::string_view question,
                          function_ref<void(std::string_view path, std::string_view version)> take);
    /// How many runs are known to be done, whatever was asked.
    [[nodiscard]] std::size_t done_count() const noexcept;

    /// Stores a run, its reductions too where it has any, in one transaction; of its earlier results nothing is left.
    /// Errors: besides those above value_error (reductions were begun and not ended; a text above 10^9 bytes).
    void write(const run_result& result, std::string_view question);

    /// What is written from here to end_group() is there together, or not at all, at a part of the cost.  Where a call throws
    /// meanwhile, close it: what is left of the group is undone.
    void begin_group();
    void end_group();

    /// The same for a run whose reductions come in pieces, and not by result.reductions: they are stored in the order
    /// in which they are added, and nobody sees them before end_reductions().  Until then other programs cannot write.
    /// A call that throws gives it all up.
    /// Errors: value_error: nothing was begun, or something else was.
    void begin_reductions(const batch_run& run, std::string_view question);
    void add_reductions(std::span<const reduction_row> rows);
    /// `result`: of that run; its state, verdicts and messages.
    void end_reductions(const run_result& result);
    /// Undoes what was begun, if anything was: the run is stored as it was before.
    void abandon_reductions() noexcept;

    /// Makes runs `gone`, by the reason `why`: of the one at `path`, those in it, should it be an archive, and those below it,
    /// should it be a folder, each for which is_gone() is true of what follows `path`: "", "!/job-17", "/job-17".  Returns how
    /// many.  Their results stay, but not in `first_findings`.
    std::size_t mark_gone(std::string_view path, std::string_view why,
                          function_ref<bool(std::string_view behind)> is_gone);
    /// What is stored of a run that is passed over.
    [[nodiscard]] passed_run passed(std::string_view path);
    /// What is stored of a run, without its reductions.
    [[nodiscard]] std::optional<run_result> find(std::string_view path);
    /// Where each run that is stored was in its list, its path, as it was written or, where that is another one in this
    /// folder, from the root, and what it was asked; by place, those of one place in the order in which they were written.
    void for_each_run(function_ref<void(std::uint64_t place, std::string_view path, std::string_view question)> take);
    /// Its reductions, in the order in which they were added.  `take` does not call this again.
    void for_each_reduction(std::string_view path, function_ref<void(const reduction_row&)> take);

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace v1
}  // namespace smdebug
