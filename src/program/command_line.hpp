// The program's command line.  A command declares itself, beside what it does: its options, what is checked across
// them, and what runs it.  Help, completion and manual pages come from these declarations.
#pragma once

#include <program/command_table.hpp>
#include <program/console.hpp>
#include <program/interrupt.hpp>
#include <program/ranks.hpp>
#include <program/rule_set.hpp>
#include <program/run_places.hpp>
#include <smdebug/core/stop_token.hpp>

#include <any>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {

class App;

}  // namespace CLI

namespace smdebug::inline v1::cli::detail {

/// What a running command may use.
struct run_context {
    console& to;
    const program_rules& registry;
    const stop_giver& about_to_wait;  ///< empty if nothing stops it
    const rank_starter& ranks;

    /// For commands that wait or must not leave partial output: from now on an interrupt requests this stop.
    [[nodiscard]] std::stop_token stop() const { return about_to_wait ? about_to_wait() : std::stop_token{}; }
};

/// A command with its arguments.
struct parsed_command {
    std::any arguments = {};  ///< a std::shared_ptr to them
    std::function<int(const run_context&)> run = {};
};

/// The output of --help, and of commands that only print.
struct printed_text {
    std::string text = {};
};

/// The commands, and the parser of their arguments.  All errors in arguments are found here, before a run is opened.
class command_line {
public:
    /// All commands.  Borrows the registry.  `defaults`: a file with defaults of options, see defaults.hpp; empty:
    /// none.
    explicit command_line(const program_rules& registry, const std::string& defaults = {});
    command_line(const command_line&) = delete;
    command_line& operator=(const command_line&) = delete;
    ~command_line();

    /// Declares a command; returns the app for its options, which are bound to `args`.  check(args) is called when all
    /// are there, and throws usage_error; run(args, context) gives the exit status.
    template <class Arguments, class Check, class Run>
    CLI::App& add(const std::string& name, const std::string& summary, const std::shared_ptr<Arguments>& args,
                  Check check, Run run) {
        return add_entry(name, summary,
                         {.arguments = args,
                          .check = [args, check = std::move(check)] { check(*args); },
                          .run =
                              [args, run = std::move(run)](const run_context& with) {
                                  spread_folders(*args);
                                  fit_tables(*args, with.to);
                                  return run(*args, with);
                              }});
    }

    [[nodiscard]] const program_rules& registry() const noexcept { return registry_; }
    [[nodiscard]] std::vector<std::string> rule_names() const;
    [[nodiscard]] std::vector<std::string> command_names() const;

    /// The command in the arguments (without the program's name).  Once.  Errors: usage_error.
    [[nodiscard]] parsed_command parse(std::vector<std::string> arguments);

    /// The options and arguments of all commands.
    [[nodiscard]] command_table table();

private:
    struct entry {
        std::any arguments = {};
        std::function<void()> check = {};
        std::function<int(const run_context&)> run = {};
    };
    struct state;

    CLI::App& add_entry(const std::string& name, const std::string& summary, entry made);
    void add_completion();
    void add_manual();
    void add_help();
    [[nodiscard]] parsed_command parse_by_app(std::vector<std::string> arguments);

    // --width, where a command prints tables.
    template <class Arguments>
    static void fit_tables(const Arguments& args, console& to) {
        const auto fit = [&](std::optional<std::size_t> width) {
            to.set_table_width(width.value_or(to.table_width()));
        };
        if constexpr (requires { args.check.how.width; }) {
            fit(args.check.how.width);
        } else if constexpr (requires { args.how.width; }) {
            fit(args.how.width);
        } else if constexpr (requires { args.width; }) {
            fit(args.width);
        }
    }

    const program_rules& registry_;
    std::unique_ptr<state> state_;
};

/// The arguments of a parsed command, which are of that type.
template <class Arguments>
[[nodiscard]] const Arguments& arguments_of(const parsed_command& parsed) {
    return *std::any_cast<const std::shared_ptr<Arguments>&>(parsed.arguments);
}

}  // namespace smdebug::inline v1::cli::detail
