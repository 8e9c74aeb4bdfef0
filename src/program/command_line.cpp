#include <program/command_line.hpp>

#include <program/check.hpp>
#include <program/command_options.hpp>
#include <program/command_table.hpp>
#include <program/completion.hpp>
#include <program/defaults.hpp>
#include <program/defaults_file.hpp>
#include <program/diff.hpp>
#include <program/export.hpp>
#include <program/index.hpp>
#include <program/learn.hpp>
#include <program/ls.hpp>
#include <program/manual.hpp>
#include <program/merge.hpp>
#include <program/pack.hpp>
#include <program/program_version.hpp>
#include <program/repair.hpp>
#include <program/report.hpp>
#include <program/rule_list.hpp>
#include <program/scan.hpp>
#include <program/show.hpp>
#include <program/stats.hpp>
#include <program/text.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::cli::detail {

namespace {

// In the order of the help, where completion, manual and help follow.  To add one: CONTRIBUTING.md, "A command".
constexpr std::array commands{declare_ls,     declare_show,  declare_stats,  declare_diff,  declare_check,
                              declare_scan,   declare_learn, declare_report, declare_merge, declare_pack,
                              declare_export, declare_rules, declare_index,  declare_repair};

int print(const printed_text& out, const run_context& with) {
    with.to.print(out.text);
    return exit_ok;
}

parsed_command printing(const std::string& text) {
    const auto out = std::make_shared<printed_text>(text);
    return {.arguments = out, .run = [out](const run_context& with) { return print(*out, with); }};
}

std::size_t place_of_command(const std::vector<std::string>& arguments) {
    std::size_t place = 0;
    while (place < arguments.size() && arguments[place].starts_with('-')) {
        place += arguments[place] == "--config" ? 2U : 1U;
    }
    return std::min(place, arguments.size());
}

}  // namespace

struct command_line::state {
    CLI::App app{"Looks into training runs that Amazon's package smdebug, or this library, has saved.", "smdebug"};
    std::shared_ptr<defaults_reader> defaults = std::make_shared<defaults_reader>(app);
    std::map<const CLI::App*, entry> entries = {};
};

command_line::command_line(const program_rules& registry, const std::string& defaults)
    : registry_(registry), state_(std::make_unique<state>()) {
    CLI::App& app = state_->app;
    app.set_config("--config", defaults,
                   "the file of defaults: of options for all commands, or for one behind a line [COMMAND]")
        ->type_name("FILE")
        ->each(refuse_device_of_defaults);
    app.config_formatter(state_->defaults);
    app.set_version_flag("--version", "smdebug " + version_text());
    app.require_subcommand(1);
    app.footer(std::string{conventions});  // of the commands, too
    for (const auto declare : commands) {
        declare(*this);
    }
    add_completion();
    add_manual();
    add_help();
    app.footer(std::string{conventions} + "\n`smdebug COMMAND --help` shows more.");
}

command_line::~command_line() = default;

CLI::App& command_line::add_entry(const std::string& name, const std::string& summary, entry made) {
    CLI::App& app = *state_->app.add_subcommand(name, summary);
    state_->entries.emplace(&app, std::move(made));
    return app;
}

std::vector<std::string> command_line::rule_names() const {
    std::vector<std::string> names;
    for (const rule_info& info : registry_.infos()) {
        names.push_back(info.name);
    }
    return names;
}

std::vector<std::string> command_line::command_names() const {
    std::vector<std::string> names;
    for (const CLI::App* each : static_cast<const CLI::App&>(state_->app).get_subcommands({})) {
        names.push_back(each->get_name());
    }
    return names;
}

command_table command_line::table() { return read_commands(state_->app, conventions); }

void command_line::add_completion() {
    const auto shell = std::make_shared<std::string>();
    CLI::App& app = add(
        "completion", "print what a shell needs to complete commands and options", std::make_shared<printed_text>(),
        [shell](printed_text& out) { out.text = completion_script("smdebug", *shell); }, print);
    accept(app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name(""),
           {completed_shells.begin(), completed_shells.end()});
    add_notes(app,
              "Packages install it where shells look.  Elsewhere, for this shell alone:\n"
              "Example: source <(smdebug completion bash)\n"
              "         source <(smdebug completion zsh)\n"
              "         smdebug completion fish | source\n");
}

void command_line::add_manual() {
    const auto args = std::make_shared<manual_arguments>();
    const auto command = std::make_shared<std::string>();
    CLI::App& app = add(
        "manual", "print a manual page, of the program or of a command, for man", args,
        [this, command](manual_arguments& given) {
            given.pages =
                given.folder ? all_manual_pages(table()) : std::vector<manual_page>{page_of(table(), *command)};
        },
        [](const manual_arguments& given, const run_context& with) { return print_manual(given, with.to); });
    // More commands follow below; help is the last.
    std::vector<std::string> names = command_names();
    names.emplace_back("help");
    CLI::Option* const one =
        accept(app.add_option("COMMAND", *command, "the command; default: the program itself")->type_name(""), names);
    app.add_option("-o,--output", args->folder,
                   "write the pages of the program and of all commands into this folder instead")
        ->type_name("DIR")
        ->excludes(one);
    add_notes(app, "Example: smdebug manual scan | man -l -\n");
}

void command_line::add_help() {  // parse() makes --help of it
    const auto command = std::make_shared<std::string>();
    CLI::App& app = add(
        "help", "what a command does, and its options", command, [](const std::string&) {},
        [](const std::string&, const run_context&) { return exit_ok; });
    accept(app.add_option("COMMAND", *command, "the command; default: the program itself")->type_name(""),
           command_names());
}

parsed_command command_line::parse(std::vector<std::string> arguments) {
    CLI::App& app = state_->app;
    if (arguments.empty()) {
        throw usage_error("a command is missing", "\n" + app.help());
    }
    const auto names = command_names();
    const auto first = static_cast<std::ptrdiff_t>(place_of_command(arguments));
    const auto word = [&] { return arguments.begin() + first; };
    if (word() != arguments.end() && *word() == "complete") {  // by the scripts of `completion`, with the typed words
        const auto begin = std::find(word(), arguments.end(), "--");
        return printing(
            completion_text(complete(table(), {begin == arguments.end() ? begin : begin + 1, arguments.end()})));
    }
    if (word() != arguments.end() && *word() == "help") {  // as git has it: help, help COMMAND
        arguments.erase(word());
        arguments.emplace_back("--help");
    } else if (word() != arguments.end() && *word() == "version") {
        *word() = "--version";
    }
    if (word() != arguments.end() && !word()->starts_with('-') &&
        std::find(names.begin(), names.end(), *word()) == names.end()) {
        throw usage_error("there is no command \"" + *word() + "\"; there are: " + joined(names, ", ") + "." +
                              did_you_mean(*word(), names),
                          "Try `smdebug --help`.");
    }
    try {
        return parse_by_app(std::move(arguments));
    } catch (const usage_error& wrong) {
        const std::string_view text = wrong.what();
        const std::string place = state_->defaults->place_of(text);
        if (place.empty()) {
            throw;
        }
        const std::size_t end = std::min(text.find('\n'), text.size());  // behind it is help
        throw usage_error(text.substr(0, end), printable(place).append(text.substr(end)));
    }
}

parsed_command command_line::parse_by_app(std::vector<std::string> arguments) {
    CLI::App& app = state_->app;
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
        app.parse(std::move(arguments));
    } catch (const CLI::CallForVersion&) {
        return {.run = [](const run_context& with) {
            with.to.print("smdebug " + program_version(with.ranks.library));
            return exit_ok;
        }};
    } catch (const CLI::CallForHelp&) {
        const auto chosen = app.get_subcommands();
        return printing(chosen.empty() ? app.help() : chosen.front()->help("smdebug"));
    } catch (const CLI::Error& wrong) {
        const auto chosen = app.get_subcommands();
        const CLI::App& asked = chosen.empty() ? app : *chosen.front();
        throw usage_error(text_of_error(wrong, asked, app.get_subcommands({})),
                          "Try `smdebug " + (chosen.empty() ? "" : chosen.front()->get_name() + " ") + "--help`.");
    }
    const entry& chosen = state_->entries.at(app.get_subcommands().front());
    chosen.check();
    return {.arguments = chosen.arguments, .run = chosen.run};
}

}  // namespace smdebug::inline v1::cli::detail
