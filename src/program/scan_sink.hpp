// Where the results of a scan go: a database, rows, messages, actions on findings, and the sum.
#pragma once

#include <program/batch_progress.hpp>
#include <program/console.hpp>
#include <program/finding_actions.hpp>
#include <program/rule_notes.hpp>
#include <program/scan_arguments.hpp>
#include <program/scan_page.hpp>
#include <program/scan_results.hpp>
#include <program/scan_rows.hpp>
#include <smdebug/batch/run_result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Handles the results of a scan.  One thread at a time.
class scan_sink {
public:
    enum class messages : std::uint8_t {
        told,     ///< printed here, and findings cause their actions
        by_ranks  ///< printed by other processes: they count here only for the status file and the exit status
    };

    /// Borrows all; `base` may be null.  Errors: usage_error, as finding_actions.
    scan_sink(const scan_arguments& args, scan_database* base, batch_progress& progress, console& to,
              messages how = messages::told);

    /// Errors: output_error, those of scan_database.
    void take(run_result&& result);

    /// Takes a run that needs no work, as it has not changed.
    void pass(const std::string& path);

    /// The results of all that was taken are there.
    void finish(bool complete);
    /// The exit status.
    [[nodiscard]] int status() const { return idle_.status(to_, met_); }

private:
    void tell_messages(const run_result& result);
    [[nodiscard]] static bool says_nothing(const run_result& result);
    void write(run_result& result);
    // What an earlier scan has found is on the page, too.
    void show_stored(const std::string& path);
    // What the database says about runs that this scan skipped.
    void tell_stored(bool complete);
    void report(const run_result& result);

    scan_database* base_;
    batch_progress& progress_;
    console& to_;
    messages how_;
    finding_actions actions_;
    const std::vector<rule_request>& named_;
    idle_rules idle_;
    std::optional<scan_rows> rows_;
    std::optional<reduction_rows> numbers_;
    std::optional<scan_page> page_;
    run_tally tally_;
    bool met_ = false;
    bool any_run_ = false;
    std::size_t without_run_ = 0;  // archives
};

}  // namespace smdebug::inline v1::cli::detail
