// The program: arguments in, results and exit status out.  It throws nothing and touches no global state.
#pragma once

#include <program/console.hpp>
#include <program/interrupt.hpp>
#include <program/ranks.hpp>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli {

/// Runs the program with these arguments (without the program's name); returns its exit status.
/// `defaults` returns the file of defaults, like defaults_file(), or null.  `ranks` is the channel of a scan over
/// many processes; if empty, such a scan is refused.
[[nodiscard]] int run_program(std::vector<std::string> arguments, std::ostream& out, std::ostream& err,
                              detail::console_kind kind = {}, const detail::stop_giver& about_to_follow = {},
                              const std::function<std::string()>& defaults = {},
                              const detail::rank_starter& ranks = {});

}  // namespace smdebug::inline v1::cli
