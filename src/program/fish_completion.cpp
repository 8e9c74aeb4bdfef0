#include <program/fish_completion.hpp>

#include <program/shell_words.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// The flags of fish's `complete` for a value.
std::string fish_value(const option_entry& entry) {
    switch (entry.kind) {
        case value_kind::choice:
            return " -x -a " + fish_word(joined_words(entry.choices));
        case value_kind::choices:
            return " -x -a " + fish_word("(__@function@_some " + joined_words(entry.choices) + ")");
        case value_kind::path:
            return " -r -F";
        case value_kind::folder:
            return " -x -a '(__fish_complete_directories)'";
        case value_kind::program:
            return " -x -a '(__fish_complete_command)'";
        case value_kind::text:
            return " -x";
        default:
            return {};
    }
}

std::string fish_option(const std::string& condition, const option_entry& option) {
    std::string line = "complete -c @program@ -n " + condition;
    for (const std::string& name : option.names) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    return line + fish_value(option) + " -d " + fish_word(short_help(option.help)) + "\n";
}

}  // namespace

std::string fish_completion(const command_table& table) {
    std::string lines;
    std::string with_values;  // options before the command behind which its value stands
    for (const option_entry& option : table.program.options) {
        with_values += option.kind == value_kind::none ? "" : " " + joined_words(option.names);
        lines += fish_option("__@function@_none", option);
    }
    for (const command_entry& command : table.commands) {
        lines += "\ncomplete -c @program@ -n __@function@_none -a " + command.name + " -d " +
                 fish_word(command.summary) + "\n";
        const std::string condition = "'__@function@_is " + command.name + "'";
        for (const option_entry& option : command.options) {
            lines += fish_option(condition, option);
        }
        // Fish does not count arguments: what the last takes is offered for all.
        for (std::size_t i = command.arguments.size(); i > 0; --i) {
            const option_entry& argument = command.arguments[i - 1];
            if (argument.kind == value_kind::path) {
                lines += "complete -c @program@ -n " + condition + " -F\n";
                break;
            }
            if (argument.kind != value_kind::text) {
                lines += "complete -c @program@ -n " + condition + fish_value(argument).replace(0, 3, "") + "\n";
                break;
            }
        }
    }
    return filled_in(
        "# Completion of @program@ for fish, printed by `@program@ completion fish`.\n"
        "function __@function@_command  # prints the command that is there already\n"
        "    set -l words (commandline -opc)\n"
        "    set -e words[1]\n"
        "    while set -q words[1]\n"
        "        if contains -- $words[1]" +
            with_values +
            "; and set -q words[2]\n"
            "            set -e words[1]\n"
            "        else if not string match -q -- '-*' $words[1]\n"
            "            echo $words[1]\n"
            "            return\n"
            "        end\n"
            "        set -e words[1]\n"
            "    end\n"
            "end\n"
            "function __@function@_none\n"
            "    set -l command (__@function@_command)\n"
            "    test -z \"$command\"\n"
            "end\n"
            "function __@function@_is  # COMMAND\n"
            "    set -l command (__@function@_command)\n"
            "    test \"$command\" = $argv[1]\n"
            "end\n"
            "function __@function@_some  # CHOICES...: with those before the last comma\n"
            "    set -l before (string match -r '^.*,' -- (commandline -ct | string replace -r '^--[^=]*=' ''))\n"
            "    printf '%s\\n' $before$argv\n"
            "end\n"
            "complete -c @program@ -f\n" +
            lines,
        table.program.name);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
