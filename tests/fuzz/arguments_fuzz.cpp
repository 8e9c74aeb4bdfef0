// The program's arguments, a line each, as far as they are read before a run is opened; rules as they are written
// there; and the same bytes as a file of defaults.
#include "support.hpp"

#include <program/command_line.hpp>
#include <program/console.hpp>
#include <program/defaults_file.hpp>
#include <program/rule_set.hpp>
#include <smdebug/core/bytes.hpp>

#include "support/standard.hpp"

using namespace smdebug;
using namespace smdebug_fuzz;

namespace {

// Refusals have a message that is safe to print.
template <class Run>
void only_refusals(Run&& run) {
    try {
        run();
    } catch (const cli::detail::usage_error& wrong) {
        const std::string_view what = wrong.what();
        demand(!what.empty() && is_utf8(what), "the message says what is wrong");
        for (const char one : what) {
            demand(one == '\n' || static_cast<unsigned char>(one) >= ' ', "and does not control a terminal");
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const cli::program_rules rules = cli::program_rules::built_in();
    only_refusals([&] {
        const std::string text{as_text({reinterpret_cast<const std::byte*>(data), size})};
        for (const auto& line : cli::detail::defaults_text{text, "defaults"}.lines()) {
            demand(!line.option.empty() && line.number > 0, "a default is that of an option, and stands in a line");
        }
    });
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
        cli::detail::command_line line{rules};
        const auto command = line.parse(arguments);
        if (const auto* out = std::any_cast<std::shared_ptr<cli::detail::printed_text>>(&command.arguments)) {
            demand(!(*out)->text.empty(), "help is a text");
        }
    });
    return 0;
}
