// `smdebug ls --follow`: a line for each step of runs that grow, as soon as it is complete, until their jobs end.
#pragma once

#include <program/console.hpp>
#include <program/ls.hpp>
#include <smdebug/core/stop_token.hpp>

namespace smdebug::inline v1::cli::detail {

/// Runs the command until every job has ended, was given up, or `stop`; the exit status.
[[nodiscard]] int follow_ls(const ls_arguments& args, console& to, const std::stop_token& stop);

}  // namespace smdebug::inline v1::cli::detail
