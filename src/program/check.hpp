// `smdebug check`: rules over the saved steps of runs, a row for each finding.
#pragma once

#include <program/console.hpp>
#include <program/evaluate_run.hpp>
#include <program/finding_actions.hpp>
#include <program/rows.hpp>
#include <program/rule_set.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/trial.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

/// The columns of check; the widths are for tables that are printed as the rows come.
[[nodiscard]] std::vector<column> check_columns();

/// The columns of its summary.
[[nodiscard]] std::vector<column> summary_columns();

/// A finding as a row.
void add_finding(row_buffer& row, const std::string& path, std::string_view rule, const finding& found);

/// A rule's row of the summary, without its last cells.
void fill_summary(row_buffer& row, const std::string& path, const rule_result& result);

/// Errors: usage_error.
[[nodiscard]] finding_actions actions_of(const check_arguments& args);

/// Evaluates rules over the existing steps of one run: findings go to `rows` (unless it is null), notes, failures and
/// progress to the console.  Returns a result for each request, in order: one that cannot be made does not affect the
/// others.
[[nodiscard]] std::vector<rule_result> check_run(rule_maker& maker, const std::vector<rule_request>& requests,
                                                 const trial& run, const std::string& path, const check_arguments& args,
                                                 row_sink* rows, finding_actions& actions, console& to);

/// Runs the command over the existing steps; returns the exit status.
[[nodiscard]] int check(const check_arguments& args, const program_rules& registry, console& to);

void declare_check(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
