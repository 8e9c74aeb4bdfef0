// `smdebug check --follow`: rules over runs that grow, each step as soon as it is complete, until their jobs end.
#pragma once

#include <program/console.hpp>
#include <program/evaluate_run.hpp>
#include <program/rule_set.hpp>
#include <smdebug/core/stop_token.hpp>

namespace smdebug::inline v1::cli::detail {

/// Runs the command until every job has ended, was given up, or `stop`; the exit status.
[[nodiscard]] int follow_check(const check_arguments& args, const program_rules& registry, console& to,
                               const std::stop_token& stop);

}  // namespace smdebug::inline v1::cli::detail
