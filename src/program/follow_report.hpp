// `smdebug report --follow`: the page is written again while its runs grow, until their jobs end; an open page reads it
// again.
#pragma once

#include <program/console.hpp>
#include <program/report.hpp>
#include <program/rule_set.hpp>
#include <smdebug/core/stop_token.hpp>

namespace smdebug::inline v1::cli::detail {

/// Runs the command; the exit status.
[[nodiscard]] int follow_report(const report_arguments& args, const program_rules& registry, console& to,
                                const std::stop_token& stop);

}  // namespace smdebug::inline v1::cli::detail
