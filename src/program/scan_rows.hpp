// The results of a scan as rows: what rules say of runs, or numbers.
#pragma once

#include <program/console.hpp>
#include <program/rows.hpp>
#include <program/rule_notes.hpp>
#include <program/scan_arguments.hpp>
#include <program/stats.hpp>
#include <smdebug/batch/run_result.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// The results of a scan as rows: one for each run and rule, also for rules that have nothing to look at; a run that
/// cannot be opened, or fails, is one row without a rule.  Tables begin with what is wrong, and only count the rules
/// that found nothing or have nothing to look at, unless they are requested; with many runs, the last line counts runs.
class scan_rows {
public:
    /// `runs`: how many there will be, as far as that is known.
    scan_rows(const scan_arguments& args, std::size_t runs, console& to);

    void add(const run_result& result);

    void finish(const std::string& tally);

private:
    bool table_;
    bool all_;
    const std::vector<rule_request>& named_;
    console& to_;
    row_sink rows_;
    row_buffer healthy_;  // tables: behind the others
    row_buffer idle_;
    bad_value_lines bad_values_;
    std::size_t idle_rows_ = 0;
    std::size_t healthy_rows_ = 0;  // that are not shown
    std::size_t runs_ = 0;
};

/// The numbers of a scan as rows, those of stats.
class reduction_rows {
public:
    reduction_rows(const scan_arguments& args, std::size_t runs, console& to);

    void add(const run_result& result);
    void finish() { rows_.finish(""); }

private:
    const std::vector<statistic>& statistics_;
    row_sink rows_;
};

}  // namespace smdebug::inline v1::cli::detail
