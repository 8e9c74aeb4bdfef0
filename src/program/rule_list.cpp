#include <program/rule_list.hpp>

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/table.hpp>
#include <smdebug/registry/configure.hpp>

#include <algorithm>
#include <memory>

namespace smdebug::inline v1::cli::detail {

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
                   text_column("in_a_scan", shortened::at_end),
                   text_column("description", shortened::at_end)}};
    row_buffer row = rows.buffer();
    for (const rule_info& rule : infos) {
        const rule_parameters scanned = smdebug::detail::scan_parameters(rule);
        for (const parameter_info& parameter : rule.parameters) {
            row.text(rule.name);
            row.text(parameter.name);
            row.text(parameter.type);
            row.text(parameter.standard);
            const auto own = scanned.find(parameter.name);
            own != scanned.end() ? row.text(own->second.text) : row.empty();
            row.text(parameter.meaning);
            row.end_row();
        }
    }
    rows.take(row);
    rows.finish("no rules\n");
    if (args.format == output_format::table) {
        to.print("\n");
        for (const rule_info& rule : infos) {
            to.print(rule.name + (rule.service_name.empty() ? "" : " (" + rule.service_name + ")") + ": " +
                     rule.meaning + "\n");
        }
    }
    return to.status();
}

void declare_rules(command_line& line) {
    const auto args = std::make_shared<rules_arguments>();
    CLI::App& app = line.add(
        "rules", "list the built-in rules, their parameters, types and defaults, those of a scan where it has its own",
        args,
        [&registry = line.registry()](rules_arguments& given) {
            for (std::string& name : given.rules) {
                try {
                    name = registry.info(name).name;
                } catch (const value_error& wrong) {
                    throw usage_error(wrong.message());
                }
            }
        },
        [](const rules_arguments& given, const run_context& with) {
            return list_rules(given, with.registry, with.to);
        });
    offer(add_arguments(app, "RULE", args->rules, "only these rules; default: all", false), {line.rule_names()});
    add_table_format(app, args->format, args->width);
}

}  // namespace smdebug::inline v1::cli::detail
