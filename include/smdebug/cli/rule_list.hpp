// `smdebug rules`: the built-in rules, their parameters, types and defaults.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rows.hpp>
#include <smdebug/cli/rule_set.hpp>
#include <smdebug/registry/configure.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

struct rules_arguments {
    std::vector<std::string> rules = {};  ///< their own names; none: all
    output_format format = output_format::table;
    std::optional<std::size_t> width = {};
};

/// Runs the command: a row for each parameter; the exit status.
[[nodiscard]] inline int list_rules(const rules_arguments& given, const program_rules& known, console& to) {
    std::vector<rule_info> infos = known.infos();
    if (!given.rules.empty()) {
        std::erase_if(infos, [&](const rule_info& each) {
            return std::find(given.rules.begin(), given.rules.end(), each.name) == given.rules.end();
        });
    }
    row_sink rows{to,
                  given.format,
                  {{"rule"},
                   {"parameter"},
                   {.name = "type", .gives_way = 1},
                   text_column("default", shortened::at_end),
                   text_column("description", shortened::at_end)}};
    row_buffer row = rows.buffer();
    for (const rule_info& rule : infos) {
        for (const parameter_info& held : rule.parameters) {
            row.text(rule.name);
            row.text(held.name);
            row.text(held.type);
            row.text(held.standard);
            row.text(held.meaning);
            row.end_row();
        }
    }
    rows.take(row);
    rows.finish("no rules\n");
    if (given.format == output_format::table) {
        to.print("\n");
        for (const rule_info& rule : infos) {
            to.print(std::string{rule.name}.append(" (").append(rule.service_name).append("): ").append(rule.meaning) +
                     "\n");
        }
    }
    return to.status();
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
