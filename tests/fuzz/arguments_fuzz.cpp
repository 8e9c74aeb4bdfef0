// The program's arguments, a line each, as far as they are read before a run is opened; and rules as they are written there.
#include "support.hpp"

#include <smdebug/cli/arguments.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug_fuzz;

namespace {

// What is refused is told, and may be shown.
template <class Run>
void only_refusals(Run&& run) {
    try {
        run();
    } catch (const cli::detail::usage_error& wrong) {
        const std::string_view what = wrong.what();
        demand(!what.empty() && is_utf8(what), "what is wrong is told");
        for (const char one : what) {
            demand(one == '\n' || static_cast<unsigned char>(one) >= ' ', "and does not control a terminal");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const cli::program_rules rules = cli::program_rules::built_in();
    input in{data, size};
    std::vector<std::string> arguments;
    while (!in.empty() && arguments.size() < 40) {
        arguments.push_back(in.take_text('\n'));
    }
    for (const std::string& argument : arguments) {
        if (argument.find("rules-json") != std::string::npos) {
            return 0;  // it would read a file
        }
        only_refusals([&] { cli::check_request(rules, cli::parse_rule(argument)); });
    }
    only_refusals([&] {
        const auto command = cli::detail::parse_arguments(arguments, rules);
        if (const auto* help = std::get_if<cli::detail::help_request>(&command)) {
            demand(!help->text.empty(), "help is a text");
        }
    });
    return 0;
}
