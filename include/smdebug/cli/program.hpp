// The program: arguments in, results and exit status out.  It throws nothing and touches no global state.
// Used by: examples/smdebug.cpp, tests.
#pragma once

#include <smdebug/cli/arguments.hpp>
#include <smdebug/cli/check.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/ls.hpp>
#include <smdebug/cli/rule_list.hpp>
#include <smdebug/cli/show.hpp>
#include <smdebug/cli/stats.hpp>
#include <smdebug/core/error.hpp>

#include <exception>
#include <ostream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

namespace detail {

/// Which command each kind of arguments stands for.
struct dispatcher {
    console& to;
    [[nodiscard]] int operator()(const help_request& asked) const {
        to.print(asked.text);
        return exit_ok;
    }
    [[nodiscard]] int operator()(const ls_arguments& given) const { return ls(given, to); }
    [[nodiscard]] int operator()(const show_arguments& given) const { return show(given, to); }
    [[nodiscard]] int operator()(const stats_arguments& given) const { return stats(given, to); }
    [[nodiscard]] int operator()(const check_arguments& given) const { return check(given, to); }
    [[nodiscard]] int operator()(const rules_arguments& given) const { return list_rules(given, to); }
};

}  // namespace detail

/// Runs the program with these arguments (without the program's name); returns its exit status.
[[nodiscard]] inline int run_program(std::vector<std::string> arguments, std::ostream& out, std::ostream& err,
                                     console_kind kind = {}) {
    console to{out, err, kind};
    try {
        const int status = std::visit(detail::dispatcher{to}, parse_arguments(std::move(arguments)));
        to.flush();
        return status;
    } catch (const usage_error& wrong) {
        to.error(wrong.what());
        return exit_usage;
    } catch (const output_error& failed) {
        if (!failed.reader_is_gone()) {
            to.error(failed.what());
        }
    } catch (const std::exception& failed) {
        to.error(failed.what());
    }
    return exit_error;
}

}  // namespace cli
}  // namespace v1
}  // namespace smdebug
