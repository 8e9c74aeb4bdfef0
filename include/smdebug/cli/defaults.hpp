// Defaults of options, from a file: what a person or a machine wants of each command, said once.
//     # for every command that has the option
//     endpoint-url = "http://localhost:9000"
//     [scan]                        # for one
//     threads = 4
//     skip-damaged = true
// The command line comes before it.
#pragma once

#include <smdebug/cli/command_options.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/text.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// Where the defaults stand: the file that SMDEBUG_CONFIG names (where it is empty: none), else smdebug/config.toml in the
/// folder XDG_CONFIG_HOME, which is ~/.config unless it is set.  Empty where there is no such file.
/// Errors: usage_error where SMDEBUG_CONFIG names what is no file.
[[nodiscard]] inline std::string defaults_file() {
    const auto variable = [](const char* name) -> std::optional<std::string> {
        const char* const value = std::getenv(name);
        return value != nullptr ? std::optional<std::string>{value} : std::nullopt;
    };
    const auto is_file = [](const std::string& path) {
        std::error_code ignored;
        return std::filesystem::is_regular_file(path, ignored);
    };
    if (const auto named = variable("SMDEBUG_CONFIG")) {
        if (!named->empty() && !is_file(*named)) {
            throw detail::usage_error("SMDEBUG_CONFIG names " + *named + ", which is no file",
                                      "Set it to a file of defaults, or to nothing for none.");
        }
        return *named;
    }
    std::string folder = variable("XDG_CONFIG_HOME").value_or("");
    if (folder.empty()) {
        const std::string home = variable("HOME").value_or("");
        if (home.empty()) {
            return {};
        }
        folder = home + "/.config";
    }
    const std::string usual = folder + "/smdebug/config.toml";
    return is_file(usual) ? usual : std::string{};
}

namespace detail {

/// Reads a file of defaults for the command that was given, and leaves out what is for others.
/// Borrows the app, in which commands have been parsed when this is asked.
class defaults_reader : public CLI::ConfigTOML {
public:
    explicit defaults_reader(CLI::App& app) : app_(app) {}

    /// Errors: usage_error for an option, or a command, that there is not.
    [[nodiscard]] std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
        std::vector<CLI::ConfigItem> taken;
        for (CLI::ConfigItem& item : CLI::ConfigTOML::from_config(in)) {
            if (item.name == "++" || item.name == "--") {  // a section begins, or ends
                continue;
            }
            check(item);
            for (const CLI::App* const given : app_.get_subcommands()) {
                const bool is_meant = item.parents.empty() || item.parents.front() == given->get_name();
                if (is_meant && has(*given, item.name)) {
                    item.parents = {given->get_name()};
                    taken.push_back(item);
                }
            }
        }
        return taken;
    }

private:
    [[nodiscard]] static bool has(const CLI::App& command, const std::string& option) {
        const auto names = names_of(command);
        return std::find(names.begin(), names.end(), option) != names.end();
    }
    [[nodiscard]] static std::vector<std::string> names_of(const CLI::App& command) {
        std::vector<std::string> names;
        for (const CLI::Option* const option : command.get_options()) {
            if (option->get_configurable() && !option->get_positional()) {
                names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
            }
        }
        return names;
    }

    void check(const CLI::ConfigItem& item) const {
        std::vector<std::string> commands;
        std::vector<std::string> options;
        for (const CLI::App* const command : app_.get_subcommands({})) {
            commands.push_back(command->get_name());
            if (item.parents.empty() || item.parents.front() == command->get_name()) {
                const auto names = names_of(*command);
                options.insert(options.end(), names.begin(), names.end());
            }
        }
        if (!item.parents.empty() && (item.parents.size() > 1 || std::find(commands.begin(), commands.end(),
                                                                           item.parents.front()) == commands.end())) {
            refuse("there is no command \"" + item.parents.front() + "\"" + suggestion(item.parents.front(), commands));
        }
        if (std::find(options.begin(), options.end(), item.name) == options.end()) {
            refuse((item.parents.empty() ? std::string{"no command has an option"}
                                         : item.parents.front() + " has no option") +
                   " \"" + item.name + "\"" + suggestion(item.name, options));
        }
    }
    [[noreturn]] void refuse(const std::string& why) const {
        const auto files = app_.get_config_ptr()->as<std::vector<std::string>>();
        throw detail::usage_error("the defaults in " + (files.empty() ? "the file" : files.front()) + ": " + why,
                                  "Mend the file, or set SMDEBUG_CONFIG to nothing.");
    }

    CLI::App& app_;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
