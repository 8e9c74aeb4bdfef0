#include <program/rule_list.hpp>

#include <program/table.hpp>
#include <smdebug/registry/configure.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

int list_rules(const rules_arguments& args, const program_rules& registry, console& to) {
    std::vector<rule_info> infos = registry.infos();
    if (!args.rules.empty()) {
        std::erase_if(infos, [&](const rule_info& each) {
            return std::find(args.rules.begin(), args.rules.end(), each.name) == args.rules.end();
        });
    }
    row_sink rows{to,
                  args.format,
                  {{"rule"},
                   {"parameter"},
                   {.name = "type", .gives_way = 1},
                   text_column("default", shortened::at_end),
                   text_column("description", shortened::at_end)}};
    row_buffer row = rows.buffer();
    for (const rule_info& rule : infos) {
        for (const parameter_info& parameter : rule.parameters) {
            row.text(rule.name);
            row.text(parameter.name);
            row.text(parameter.type);
            row.text(parameter.standard);
            row.text(parameter.meaning);
            row.end_row();
        }
    }
    rows.take(row);
    rows.finish("no rules\n");
    if (args.format == output_format::table) {
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
