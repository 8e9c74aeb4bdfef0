// The program of a rule: see <smdebug/rule_main.hpp>.
#pragma once

#include <program/console.hpp>
#include <program/interrupt.hpp>
#include <program/rule_set.hpp>

#include <ostream>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Runs the program of the one rule in the registry with these arguments (without the program's name); returns its exit
/// status. Throws nothing.
[[nodiscard]] int run_rule_program(const program_rules& only, std::vector<std::string> arguments, std::ostream& out,
                                   std::ostream& err, console_kind kind = {}, const stop_giver& about_to_follow = {});

}  // namespace smdebug::inline v1::cli::detail
