// The program's commands, options and arguments as a table, from which completions and manual pages are made; it is
// read from the CLI11 app that parses them: help, completion and manual cannot disagree.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CLI {

class App;

}  // namespace CLI

namespace smdebug::inline v1::cli::detail {

/// How a shell completes a value.
enum class value_kind : std::uint8_t {
    none,     ///< a flag: no value
    text,     ///< anything else: a number, a regex, a name within a run
    choice,   ///< one of some words
    choices,  ///< some of them, with commas between them
    path,     ///< files and folders
    folder,   ///< folders
    program,  ///< commands of the shell
};

/// An option, or a positional argument.
struct option_entry {
    std::vector<std::string> names = {};  ///< "--output", "-o"; for an argument its one name, "RUN"
    std::string value = {};               ///< what the help calls the value, "FILE"; empty for a flag
    std::string help = {};                ///< a phrase
    value_kind kind = value_kind::none;
    std::vector<std::string> choices = {};  ///< the words of a choice, in the order of the help
    bool required = false;
    bool repeats = false;  ///< may be given again
};

struct command_entry {
    std::string name = {};     ///< "ls"; for the program itself its name
    std::string summary = {};  ///< a phrase without a full stop
    std::string notes = {};    ///< lines below the options in its help, without the conventions
    std::vector<option_entry> options = {};
    std::vector<option_entry> arguments = {};  ///< in their order; only the last may repeat
};

struct exit_status {
    std::string number = {};
    std::string meaning = {};
};

struct command_table {
    command_entry program = {};
    std::vector<command_entry> commands = {};
    std::string version = {};  ///< "0.1.0"
    std::vector<exit_status> statuses = {};

    [[nodiscard]] const command_entry* find(std::string_view name) const noexcept;
};

/// How a value with this name in the help is completed; unknown names are text.
[[nodiscard]] constexpr value_kind kind_of_value(std::string_view placeholder) noexcept {
    constexpr std::array<std::pair<std::string_view, value_kind>, 11> kinds{{{"FILE", value_kind::path},
                                                                             {"FILE.html", value_kind::path},
                                                                             {"FILE.db", value_kind::path},
                                                                             {"OUT", value_kind::path},
                                                                             {"RUN", value_kind::path},
                                                                             {"RUN_A", value_kind::path},
                                                                             {"RUN_B", value_kind::path},
                                                                             {"RUN2", value_kind::path},
                                                                             {"DATABASE", value_kind::path},
                                                                             {"ARCHIVE", value_kind::path},
                                                                             {"DIR", value_kind::folder}}};
    for (const auto& [name, kind] : kinds) {
        if (name == placeholder) {
            return kind;
        }
    }
    return placeholder == "COMMAND" ? value_kind::program : value_kind::text;
}

/// The statuses in the sentence "Exit status: 0 nothing found; 1 error; ..." of a text, up to its first full stop.
[[nodiscard]] std::vector<exit_status> exit_statuses_in(std::string_view text);

/// All that the app describes.
[[nodiscard]] command_table read_commands(CLI::App& app, std::string_view ending);

}  // namespace smdebug::inline v1::cli::detail
