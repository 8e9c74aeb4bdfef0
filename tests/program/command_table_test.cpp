#include <program/command_table.hpp>

#include "program/small_table.hpp"

#include <program/command_line.hpp>
#include <program/command_options.hpp>
#include <program/rule_set.hpp>

#include <CLI/CLI.hpp>

#include "support/test.hpp"

using namespace smdebug::cli::detail;
using namespace smdebug;
using cli::detail::value_kind;
using texts = std::vector<std::string>;

TEST_CASE("command_table: commands are found by their whole names") {
    const command_table table = smdebug_test::small_table();
    REQUIRE(table.find("look") != nullptr);
    CHECK(table.find("look")->arguments.size() == 2);
    CHECK(table.find("loo") == nullptr);
    CHECK(table.find("") == nullptr);
    CHECK(table.find("prog-x") == nullptr);
}

TEST_CASE("command_table: the name of a value decides how it is completed") {
    static_assert(kind_of_value("FILE") == value_kind::path);
    static_assert(kind_of_value("FILE.db") == value_kind::path);
    static_assert(kind_of_value("RUN") == value_kind::path);
    static_assert(kind_of_value("DIR") == value_kind::folder);
    static_assert(kind_of_value("COMMAND") == value_kind::program);
    static_assert(kind_of_value("REGEX") == value_kind::text);
    static_assert(kind_of_value("FILES") == value_kind::text);
    static_assert(kind_of_value("") == value_kind::text);
}

TEST_CASE("command_table: exit statuses are parsed from the sentence that lists them") {
    const auto statuses =
        exit_statuses_in("Results.\nExit status: 0 fine, and all; 1 error;\n   12 both 3 and 1.\nMore; 5 no.");
    REQUIRE(statuses.size() == 3);
    CHECK(statuses[0].number == "0");
    CHECK(statuses[0].meaning == "fine, and all");
    CHECK(statuses[1].meaning == "error");
    CHECK(statuses[2].number == "12");
    CHECK(statuses[2].meaning == "both 3 and 1");
    CHECK(exit_statuses_in("nothing of the kind").empty());
    CHECK(exit_statuses_in("Exit status: ").empty());
    CHECK(exit_statuses_in("Exit status: none; 7").empty());
}

namespace {

const cli::detail::command_table& programs_table() {
    static const cli::detail::command_table table = [] {
        const cli::program_rules registry = cli::program_rules::built_in();
        return cli::detail::command_line{registry}.table();
    }();
    return table;
}

const cli::detail::option_entry& entry(const std::string& command, const std::string& name) {
    const cli::detail::command_entry* const found = programs_table().find(command);
    REQUIRE(found != nullptr);
    for (const auto* const entries : {&found->options, &found->arguments}) {
        for (const cli::detail::option_entry& each : *entries) {
            if (std::find(each.names.begin(), each.names.end(), name) != each.names.end()) {
                return each;
            }
        }
    }
    FAIL(command << " has no " << name);
    throw;
}

}  // namespace

TEST_CASE("read_commands: what an app describes is what its table says") {
    CLI::App app{"Does things.", "prog"};
    app.footer("All of them.");
    CLI::App& one = *app.add_subcommand("one", "a thing");
    std::vector<std::string> runs;
    std::string kind;
    std::string list;
    bool quiet = false;
    one.add_option("RUN", runs, "some runs")->required()->type_name("");
    cli::detail::accept(one.add_option("-k,--kind", kind, "of what kind")->type_name("K"), {"a", "b"});
    cli::detail::offer(one.add_option("--list", list, "which")->required()->type_name("L"), {{"x", "y"}, true});
    one.add_flag("--quiet", quiet, "says nothing");
    one.footer("A note.\n\nExit status: 0 fine; 1 not.");
    const auto table = cli::detail::read_commands(app, "Exit status: 0 fine; 1 not.");
    CHECK(table.program.name == "prog");
    CHECK(table.program.summary == "Does things");
    CHECK(table.program.notes == "All of them.");
    CHECK(table.version == cli::detail::release_text());
    CHECK(table.statuses.size() == 2);
    REQUIRE(table.commands.size() == 1);
    const auto& command = table.commands.front();
    CHECK(command.notes == "A note.");
    REQUIRE(command.arguments.size() == 1);
    CHECK(command.arguments[0].names == texts{"RUN"});
    CHECK(command.arguments[0].required);
    CHECK(command.arguments[0].repeats);
    CHECK(command.arguments[0].kind == value_kind::path);
    REQUIRE(command.options.size() == 4);
    CHECK(command.options[0].names == texts{"-h", "--help"});
    CHECK(command.options[0].kind == value_kind::none);
    CHECK(command.options[1].names == texts{"-k", "--kind"});
    CHECK(command.options[1].value == "K");
    CHECK(command.options[1].kind == value_kind::choice);
    CHECK(command.options[1].choices == texts{"a", "b"});
    CHECK_FALSE(command.options[1].repeats);
    CHECK(command.options[2].kind == value_kind::choices);
    CHECK(command.options[2].required);
    CHECK(command.options[3].kind == value_kind::none);
    CHECK(command.options[3].value.empty());
    CHECK(command.options[3].help == "says nothing");
}

TEST_CASE("read_commands: accept() takes its words alone, offer() any text") {
    for (const bool accepts : {true, false}) {
        CLI::App app;
        std::string kind;
        CLI::Option* const option = app.add_option("--kind", kind);
        accepts ? cli::detail::accept(option, {"a", "b"}, true) : cli::detail::offer(option, {{"a", "b"}});
        texts arguments{"c", "--kind"};
        CHECK(cli::detail::offered_for(*option).values == texts{"a", "b"});
        if (accepts) {
            CHECK_THROWS_AS(app.parse(arguments), CLI::ValidationError);
            CHECK_FALSE(app.help().find("offered") != std::string::npos);
        } else {
            CHECK_NOTHROW(app.parse(arguments));
            CHECK(kind == "c");
        }
    }
    CLI::App app;
    std::string text;
    CHECK(cli::detail::offered_for(*app.add_option("--text", text)).values.empty());
    CHECK(cli::detail::offered_for(*app.add_option("--file", text)->check(CLI::ExistingFile)).values.empty());
}

TEST_CASE("read_commands: the program's own table") {
    const auto& table = programs_table();
    CHECK(table.program.name == "smdebug");
    CHECK(table.statuses.size() == 6);
    CHECK(table.statuses.back().number == "130");
    CHECK(entry("ls", "--format").choices == texts{"table", "csv", "json"});
    CHECK(entry("ls", "--as").kind == value_kind::choice);
    CHECK(entry("export", "--to").choices.size() == 5);
    CHECK(entry("show", "--mode").choices == texts{"GLOBAL", "TRAIN", "EVAL", "PREDICT"});
    CHECK(entry("stats", "--reductions").kind == value_kind::choices);
    CHECK(entry("stats", "--reductions").choices.front() == "all");
    CHECK(entry("ls", "RUN").kind == value_kind::path);
    CHECK(entry("show", "TENSOR").kind == value_kind::text);
    CHECK(entry("scan", "--list").kind == value_kind::path);
    CHECK(entry("scan", "--cache").kind == value_kind::folder);
    CHECK(entry("check", "--on-finding").kind == value_kind::program);
    CHECK(entry("completion", "SHELL").choices == texts{"bash", "zsh", "fish"});
    for (const auto& [command, name] : {std::pair{"check", "--rule"}, {"scan", "--rule"}, {"rules", "RULE"}}) {
        const auto& rules = entry(command, name);
        CHECK(rules.repeats);
        CHECK(std::count(rules.choices.begin(), rules.choices.end(), "vanishing_gradient") == 1);
    }
    for (const char* const command : {"help", "manual"}) {  // they know all commands, themselves, too
        texts names;
        for (const auto& each : table.commands) {
            names.push_back(each.name);
        }
        texts known = entry(command, "COMMAND").choices;
        std::sort(names.begin(), names.end());
        std::sort(known.begin(), known.end());
        CHECK(known == names);
    }
}

// A new name of a value is to be decided about: kind_of_value() knows it, or it is one of these.
TEST_CASE("read_commands: each value of the program has a kind of completion") {
    const std::set<std::string> texts_by_name{"A", "A:B",   "C",    "E", "FORMAT", "HOW",    "I/N",  "M",   "N",
                                              "R", "REGEX", "SIZE", "S", "T",      "TENSOR", "TEXT", "URL", "W"};
    for (const auto& command : programs_table().commands) {
        for (const auto* const entries : {&command.options, &command.arguments}) {
            for (const auto& each : *entries) {
                CHECK_MESSAGE((each.kind != value_kind::text || texts_by_name.count(each.value) == 1),
                              command.name << " " << each.names.front() << " " << each.value);
                CHECK_FALSE(each.help.empty());
            }
        }
    }
}
