// `smdebug scan`: all built-in rules that have something to look at, over many runs, on all cores and many machines; a
// row for each run and rule.
#pragma once

#include <program/console.hpp>
#include <program/ranks.hpp>
#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/core/stop_token.hpp>

namespace smdebug::inline v1::cli::detail {

class command_line;

/// The scan over many processes, each of which calls this.  Returns the exit status: on rank 0 that of one process over
/// the same runs, on the others 0 if they finished their work.  The rank that scans a run prints its messages.
[[nodiscard]] int scan_on_ranks(const scan_arguments& args, const program_rules& registry, console& to,
                                const std::stop_token& stop, rank_channel& channel);

/// Runs the command; the exit status.
[[nodiscard]] int scan_runs(const scan_arguments& args, const program_rules& registry, console& to,
                            const std::stop_token& stop = {}, const rank_starter& ranks = {});

void declare_scan(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
