#include <program/bash_completion.hpp>

#include <program/shell_words.hpp>

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

namespace {

// "path", "choice table csv json": what the script's own function completes.
std::string bash_kind(const option_entry& entry) {
    constexpr std::array<std::string_view, 7> names{"", "text", "choice", "choices", "path", "folder", "program"};
    std::string text{names[static_cast<std::size_t>(entry.kind)]};
    return entry.choices.empty() ? text : text + " " + joined_words(entry.choices);
}

std::string bash_options(const command_entry& command) {
    std::vector<std::string> names;
    for (const option_entry& option : command.options) {
        names.insert(names.end(), option.names.begin(), option.names.end());
    }
    return joined_words(names);
}

// For each option that takes a value, a case "COMMAND OPTION" with what the value is.
std::string bash_values(const std::string& command, const std::vector<option_entry>& options) {
    std::string cases;
    for (const option_entry& option : options) {
        std::string patterns;
        for (const std::string& name : option.names) {
            patterns.append(patterns.empty() ? "" : " | ").append(shell_word(command + " " + name));
        }
        if (option.kind != value_kind::none) {
            cases += "        " + patterns + ") echo " + shell_word(bash_kind(option)) + " ;;\n";
        }
    }
    return cases;
}

}  // namespace

std::string bash_completion(const command_table& table) {
    std::string commands;
    std::string options = "        '') echo " + shell_word(bash_options(table.program)) + " ;;\n";
    std::string values = bash_values("", table.program.options);
    std::string arguments;
    for (const command_entry& command : table.commands) {
        commands.append(commands.empty() ? "" : " ").append(command.name);
        options += "        " + command.name + ") echo " + shell_word(bash_options(command)) + " ;;\n";
        values += bash_values(command.name, command.options);
        for (std::size_t i = 0; i < command.arguments.size(); ++i) {
            const option_entry& argument = command.arguments[i];
            arguments += "        " + shell_word(command.name + " " + (argument.repeats ? "" : std::to_string(i))) +
                         (argument.repeats ? "*" : "") + ") echo " + shell_word(bash_kind(argument)) + " ;;\n";
        }
    }
    return filled_in(
        "# Completion of @program@ for bash, printed by `@program@ completion bash`.\n\n"
        "_@function@_commands() {\n    echo " +
            shell_word(commands) +
            "\n}\n\n"
            "_@function@_options() {  # COMMAND: its options; of '' the program's\n    case $1 in\n" +
            options +
            "    esac\n}\n\n"
            "_@function@_value() {  # COMMAND OPTION: what its value is; nothing: it takes none\n"
            "    case \"$1 $2\" in\n" +
            values +
            "    esac\n}\n\n"
            "_@function@_argument() {  # COMMAND NUMBER: the same of its arguments, from 0\n"
            "    case \"$1 $2\" in\n" +
            arguments + "    esac\n}\n" + R"sh(
_@function@_offer() {  # WORD KIND CHOICES...: what may stand in the place of the word
    local word=$1 kind=${2-} choices before
    shift $(($# < 2 ? $# : 2))
    choices="$*"
    case $kind in
        choice) mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$word") ;;
        choices)
            before=
            if [[ $word == *,* ]]; then before=${word%,*},; fi
            mapfile -t COMPREPLY < <(compgen -P "$before" -W "$choices" -- "${word##*,}")
            compopt -o nospace 2>/dev/null
            ;;
        path)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            ;;
        folder)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$word")
            ;;
        program) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
    esac
}

_@function@() {
    local word=${COMP_WORDS[COMP_CWORD]} command='' number=0 ended='' each kind i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; ++i)); do
        each=${COMP_WORDS[i]}
        if [[ -z $command && $each != -?* ]]; then
            command=$each
        elif [[ -n $ended || $each != -?* ]]; then
            ((++number))
        elif [[ $each == -- ]]; then
            ended=yes
        else
            kind=$(_@function@_value "$command" "$each")
            [[ -n $kind ]] || continue
            if [[ ${COMP_WORDS[i + 1]} == = ]]; then ((++i)); fi  # bash takes --option=value for three words
            if ((++i >= COMP_CWORD)); then
                # shellcheck disable=SC2086  # words of their own
                _@function@_offer "${word#=}" $kind
                return
            fi
        fi
    done
    if [[ -z $command && $word != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_@function@_commands)" -- "$word")
    elif [[ -z $ended && $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_@function@_options "$command")" -- "$word")
    else
        # shellcheck disable=SC2046  # words of their own
        _@function@_offer "$word" $(_@function@_argument "$command" "$number")
    fi
}

complete -F _@function@ @program@
)sh",
        table.program.name);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
