#include <program/program.hpp>

#include <program/command_line.hpp>
#include <program/console.hpp>
#include <program/rule_set.hpp>

#include <utility>

namespace smdebug::inline v1::cli {

int run_program(std::vector<std::string> arguments, std::ostream& out, std::ostream& err, detail::console_kind kind,
                const detail::stop_giver& about_to_follow, const std::function<std::string()>& defaults,
                const detail::rank_starter& ranks) {
    detail::console to{out, err, kind};
    return status_of(to, [&] {
        const program_rules registry = program_rules::built_in();
        detail::command_line line{registry, defaults ? defaults() : std::string{}};
        return line.parse(std::move(arguments)).run({to, registry, about_to_follow, ranks});
    });
}

}  // namespace smdebug::inline v1::cli
