// The command line, parsed.
// Everything that can be wrong with arguments is found here, before a run is opened.
#pragma once

#include <program/command_table.hpp>
#include <program/defaults.hpp>
#include <program/diff.hpp>
#include <program/evaluate_run.hpp>
#include <program/export.hpp>
#include <program/index.hpp>
#include <program/ls.hpp>
#include <program/manual.hpp>
#include <program/merge.hpp>
#include <program/option_texts.hpp>
#include <program/pack.hpp>
#include <program/read_commands.hpp>
#include <program/repair.hpp>
#include <program/report.hpp>
#include <program/rule_list.hpp>
#include <program/rule_set.hpp>
#include <program/scan_arguments.hpp>
#include <program/show.hpp>
#include <program/stats.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// --help, or completion: what to print.
struct help_request {
    std::string text;
};

/// --version.
struct version_request {};

/// What the user asked for.
using command =
    std::variant<help_request, version_request, ls_arguments, show_arguments, stats_arguments, diff_arguments,
                 check_arguments, scan_arguments, report_arguments, merge_arguments, pack_arguments, export_arguments,
                 rules_arguments, index_arguments, repair_arguments, manual_arguments>;

/// What the program's commands take.
[[nodiscard]] command_table table_of_commands(const program_rules& registry);

/// The command in the arguments (without the program's name).  Errors: usage_error.
/// `defaults`: a file with defaults of options, see defaults.hpp; empty: none.
[[nodiscard]] command parse_arguments(std::vector<std::string> arguments, const program_rules& registry,
                                      const std::string& defaults = {});

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
