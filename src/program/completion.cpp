#include <program/completion.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace smdebug::inline v1::cli::detail {

namespace {

bool is_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

// An option of that name that takes a value; null if there is none.
const option_entry* option_with_value(std::span<const option_entry> options, std::string_view name) {
    const auto found = std::find_if(options.begin(), options.end(), [&](const option_entry& each) {
        return each.kind != value_kind::none &&
               std::find(each.names.begin(), each.names.end(), name) != each.names.end();
    });
    return found != options.end() ? &*found : nullptr;
}

completion value_of(const option_entry& option) {
    completion all{.kind = option.kind};
    for (const std::string& choice : option.choices) {
        all.words.emplace_back(choice, "");
    }
    return all;
}

// The first sentence, or what stands before the first semicolon: shells have one line for it.
std::string_view short_help(std::string_view help) {
    return help.substr(0, std::min(help.find(';'), help.find(".  ")));
}

}  // namespace

completion complete(const command_table& table, std::vector<std::string> words) {
    const std::string word = words.empty() ? std::string{} : words.back();
    words.resize(words.empty() ? 0 : words.size() - 1);
    const command_entry unknown;
    const command_entry* command = nullptr;
    std::size_t arguments = 0;
    bool options_ended = false;
    const auto options = [&]() -> std::span<const option_entry> {
        return (command != nullptr ? *command : table.program).options;
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& each = words[i];
        if (command == nullptr && !is_option(each)) {
            command = table.find(each);
            command = command != nullptr ? command : &unknown;
        } else if (options_ended || !is_option(each)) {
            ++arguments;
        } else if (each == "--") {
            options_ended = true;
        } else if (const option_entry* const option = option_with_value(options(), each)) {
            i += i + 1 < words.size() && words[i + 1] == "=" ? 1U : 0U;
            if (++i >= words.size()) {
                return value_of(*option);
            }
        }
    }
    completion all{.kind = value_kind::choice};
    if (!options_ended && word.starts_with('-')) {
        if (const std::size_t end = word.find('='); end != std::string::npos) {
            const option_entry* const option = option_with_value(options(), word.substr(0, end));
            return option != nullptr ? value_of(*option) : completion{};
        }
        for (const option_entry& option : options()) {
            for (const std::string& name : option.names) {
                all.words.emplace_back(name, short_help(option.help));
            }
        }
    } else if (command == nullptr) {
        for (const command_entry& each : table.commands) {
            all.words.emplace_back(each.name, each.summary);
        }
    } else if (!command->arguments.empty()) {
        const std::size_t last = command->arguments.size() - 1;
        if (arguments <= last || command->arguments[last].repeats) {
            return value_of(command->arguments[std::min(arguments, last)]);
        }
        return {};
    }
    return all;
}

std::string completion_text(const completion& of) {
    constexpr std::array<std::string_view, 7> kinds{"none", "none", "words", "some", "path", "folder", "program"};
    std::string text{kinds[static_cast<std::size_t>(of.kind)]};
    for (const auto& [word, help] : of.words) {
        text.append("\n").append(word).append("\t").append(help);
    }
    return text + "\n";
}

namespace {

constexpr std::string_view bash_script = R"sh(_@function@() {
    local word=${COMP_WORDS[COMP_CWORD]} before='' kind offered
    mapfile -t offered < <("${COMP_WORDS[0]/#\~/$HOME}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    kind=${offered[0]-none}
    offered=("${offered[@]:1}")
    offered=("${offered[@]%%$'\t'*}")
    word=${word#=}  # bash takes --option=value for three words
    COMPREPLY=()
    case $kind in
        words) mapfile -t COMPREPLY < <(compgen -W "${offered[*]}" -- "$word") ;;
        some)
            if [[ $word == *,* ]]; then before=${word%,*},; fi
            mapfile -t COMPREPLY < <(compgen -P "$before" -W "${offered[*]}" -- "${word##*,}")
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
complete -F _@function@ @program@
)sh";

constexpr std::string_view zsh_script = R"sh(_@function@() {
    local -a offered flag
    offered=("${(@f)$(${~words[1]} complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    local kind=$offered[1]
    offered=("${(@)offered[2,-1]}")
    if [[ $PREFIX == --*=* ]]; then
        compset -P '*='
    elif [[ $PREFIX == -* ]]; then
        flag=(-o)
    fi
    case $kind in
        words)
            offered=("${(@)offered//:/\\:}")
            offered=("${(@)offered/$'\t'/:}")
            _describe $flag '@program@' offered
            ;;
        some) _sequence compadd - "${(@)offered%%$'\t'*}" ;;
        path) _files ;;
        folder) _files -/ ;;
        program) _command_names -e ;;
    esac
}
if [[ $funcstack[1] == _@function@ ]]; then  # read from $fpath, by the first use of it
    _@function@ "$@"
else
    compdef _@function@ @program@
fi
)sh";

constexpr std::string_view fish_script = R"sh(function __@function@_offered
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l offered ($program complete -- $words "$word" 2>/dev/null)
    set -l kind $offered[1]
    set -e offered[1]
    set -l joint (string match -r '^--[^=]*=' -- $word)
    set -l value (string replace -r '^--[^=]*=' '' -- $word)
    switch "$kind"
        case words
            printf '%s\n' "$joint"$offered
        case some
            set -l before (string match -r '^.*,' -- $value)
            printf '%s\n' "$joint$before"$offered
        case path
            printf '%s\n' "$joint"(__fish_complete_path $value)
        case folder
            printf '%s\n' "$joint"(__fish_complete_directories $value)
        case program
            printf '%s\n' "$joint"(__fish_complete_command)
    end
end
complete -c @program@ -f -a '(__@function@_offered)'
)sh";

}  // namespace

std::string completion_script(std::string_view program, std::string_view shell) {
    std::string script = (shell == "zsh" ? "#compdef @program@\n" : "") +
                         ("# Completion of @program@ for " + std::string{shell}) +
                         ", printed by `@program@ completion " + std::string{shell} + "`.\n";
    script += shell == "bash" ? bash_script : shell == "zsh" ? zsh_script : fish_script;
    std::string function{program};
    std::replace(function.begin(), function.end(), '-', '_');
    for (const auto& [mark, value] :
         {std::pair<std::string_view, std::string_view>{"@program@", program}, {"@function@", function}}) {
        for (std::size_t at = script.find(mark); at != std::string::npos; at = script.find(mark, at + value.size())) {
            script.replace(at, mark.size(), value);
        }
    }
    return script;
}

}  // namespace smdebug::inline v1::cli::detail
