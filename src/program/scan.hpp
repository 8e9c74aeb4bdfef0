// `smdebug scan`: all built-in rules that have something to look at, over many runs, on all cores and many machines; a row
// for each run and rule.
#pragma once

#include <program/console.hpp>
#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <smdebug/batch/ranks/channel.hpp>
#include <smdebug/batch/ranks/rank_options.hpp>
#include <smdebug/core/stop_token.hpp>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// The scan over many processes, each of which calls this; the exit status, of rank 0 that of the scan.
[[nodiscard]] int scan_on_ranks(const scan_arguments& args, const program_rules& registry, console& to,
                                const std::stop_token& stop, rank_channel& channel, rank_options options = {});

/// Runs the command; the exit status.
[[nodiscard]] int scan_runs(const scan_arguments& args, const program_rules& registry, console& to,
                            const std::stop_token& stop = {});

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
