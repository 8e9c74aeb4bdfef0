// `smdebug scan`: all built-in rules that have something to look at, over many runs, on all cores and many machines; a row
// for each run and rule.
#pragma once

#include <program/console.hpp>
#include <program/ranks.hpp>
#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/core/stop_token.hpp>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

class command_line;

/// The scan over many processes, each of which calls this; the exit status: of rank 0 that of one process over the same
/// runs, of the others 0 where they did what they were to do.  Messages about a run are told by the rank that did it.
[[nodiscard]] int scan_on_ranks(const scan_arguments& args, const program_rules& registry, console& to,
                                const std::stop_token& stop, rank_channel& channel);

/// Runs the command; the exit status.
[[nodiscard]] int scan_runs(const scan_arguments& args, const program_rules& registry, console& to,
                            const std::stop_token& stop = {}, const rank_starter& ranks = {});

void declare_scan(command_line& line);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
