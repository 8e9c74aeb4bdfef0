// `smdebug rules`: the built-in rules, their parameters, types and defaults.
#pragma once

#include <program/console.hpp>
#include <program/rows.hpp>
#include <program/rule_set.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

class command_line;

struct rules_arguments {
    std::vector<std::string> rules = {};  ///< their own names; all if empty
    output_format format = output_format::table;
    std::optional<std::size_t> width = {};
};

/// Runs the command: a row for each parameter; the exit status.
[[nodiscard]] int list_rules(const rules_arguments& args, const program_rules& registry, console& to);

void declare_rules(command_line& line);

}  // namespace smdebug::inline v1::cli::detail
