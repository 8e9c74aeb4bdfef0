#include <program/zsh_completion.hpp>

#include <program/shell_words.hpp>

#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// What completes a value: the last part of a specification of _arguments.
std::string zsh_action(const option_entry& entry) {
    switch (entry.kind) {
        case value_kind::choice:
            return "(" + joined_words(entry.choices) + ")";
        case value_kind::choices:
            return "_sequence compadd - " + joined_words(entry.choices);
        case value_kind::path:
            return "_files";
        case value_kind::folder:
            return "_files -/";
        case value_kind::program:
            return "_command_names -e";
        default:
            return "( )";  // something of which nothing is known; a blank alone would end the completion of options, too
    }
}

std::string zsh_text(std::string_view text) { return with_escapes(text, "\\:[]", "\\"); }

// The specifications of an option: one for each of its names, which exclude each other.
std::string zsh_option(const option_entry& option) {
    std::string specifications;
    for (const std::string& name : option.names) {
        const std::string_view joint = option.value.empty() ? "" : (name.starts_with("--") ? "=" : "+");
        std::string spec = option.repeats ? "*" : "(" + joined_words(option.names) + ")";
        spec.append(name).append(joint).append("[").append(zsh_text(short_help(option.help))).append("]");
        if (!option.value.empty()) {
            spec.append(":").append(zsh_text(option.value)).append(":").append(zsh_action(option));
        }
        specifications += " \\\n                " + shell_word(spec);
    }
    return specifications;
}

}  // namespace

std::string zsh_completion(const command_table& table) {
    std::string commands;
    std::string cases;
    for (const command_entry& command : table.commands) {
        commands += "        " + shell_word(command.name + ":" + with_escapes(command.summary, "\\:", "\\")) + "\n";
        cases += "        " + command.name + ")\n            _arguments -S";
        for (const option_entry& option : command.options) {
            cases += zsh_option(option);
        }
        for (const option_entry& argument : command.arguments) {
            cases += " \\\n                " + shell_word((argument.repeats ? "*:" : ":") + zsh_text(argument.value) +
                                                          ":" + zsh_action(argument));
        }
        cases += "\n            ;;\n";
    }
    std::string program;
    for (const option_entry& option : table.program.options) {
        program += zsh_option(option);
    }
    return filled_in(
        "#compdef @program@\n"
        "# Completion of @program@ for zsh, printed by `@program@ completion zsh`.\n\n"
        "_@function@() {\n"
        "    local curcontext=$curcontext state line ret=1\n"
        "    typeset -A opt_args\n"
        "    local -a commands=(\n" +
            commands +
            "    )\n"
            "    _arguments -C" +
            program +
            " \\\n                '1:command:->command' '*::argument:->argument' && ret=0\n"
            "    if [[ $state == command ]]; then\n"
            "        _describe command commands && ret=0\n"
            "        return ret\n"
            "    fi\n"
            "    [[ $state == argument ]] || return ret\n"
            "    case $words[1] in\n" +
            cases +
            "    esac\n"
            "}\n\n"
            "if [[ $funcstack[1] == _@function@ ]]; then  # read from $fpath, by the first use of it\n"
            "    _@function@ \"$@\"\n"
            "else\n"
            "    compdef _@function@ @program@\n"
            "fi\n",
        table.program.name);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
