// Defaults of options, from a file: what a person or a machine wants of each command, said once.
//     # for every command that has the option
//     endpoint-url = "http://localhost:9000"
//     [scan]                        # for one
//     threads = 4
//     skip-damaged = true
// The command line comes before it, then the environment; the section of a command comes before what is for all.
#pragma once

#include <smdebug/cli/command_options.hpp>
#include <smdebug/cli/console.hpp>
#include <smdebug/cli/defaults_lines.hpp>
#include <smdebug/cli/text.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {

/// Where the defaults stand: the file that SMDEBUG_CONFIG names (where it is empty: none), else smdebug/config.toml in the
/// folder XDG_CONFIG_HOME, which is ~/.config unless it is set.  Empty where there is no such file.
/// Errors: usage_error where SMDEBUG_CONFIG names what is no file, and where the file cannot be read.
[[nodiscard]] inline std::string defaults_file() {
    const auto variable = [](const char* name) -> std::optional<std::string> {
        const char* const value = std::getenv(name);
        return value != nullptr ? std::optional<std::string>{value} : std::nullopt;
    };
    const auto is_file = [](const std::string& path) {  // /dev/null is one
        std::error_code ignored;
        const auto what = std::filesystem::status(path, ignored);
        return std::filesystem::exists(what) && !std::filesystem::is_directory(what);
    };
    const auto readable = [](const std::string& path) {  // CLI11 would go on without it
        if (!std::ifstream{path}) {
            throw detail::usage_error("the defaults in " + path + " cannot be read",
                                      "Let it be read, or set SMDEBUG_CONFIG to nothing.");
        }
        return path;
    };
    if (const auto named = variable("SMDEBUG_CONFIG")) {
        if (named->empty()) {
            return {};
        }
        if (!is_file(*named)) {
            throw detail::usage_error("SMDEBUG_CONFIG names " + *named + ", which is no file",
                                      "Set it to a file of defaults, or to nothing for none.");
        }
        return readable(*named);
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
    return is_file(usual) ? readable(usual) : std::string{};
}

namespace detail {

/// Whether the environment says what an option is: a variable that is set, for one call perhaps, comes before the file.
[[nodiscard]] inline bool is_in_environment(std::string_view option) {
    const auto is_set = [](const char* name) {
        const char* const value = std::getenv(name);
        return value != nullptr && *value != '\0';
    };
    return (option == "cache" && is_set("SMDEBUG_CACHE_DIR")) ||
           (option == "endpoint-url" && (is_set("AWS_ENDPOINT_URL_S3") || is_set("AWS_ENDPOINT_URL")));
}

/// Reads a file of defaults for the command that was given: what stands in the command's own section comes before what is
/// for all, and what is for others is left out.
/// Borrows the app, in which the command line has been parsed when this is asked.
class defaults_reader : public CLI::ConfigTOML {
public:
    explicit defaults_reader(CLI::App& app) : app_(app) {}

    /// Errors: usage_error for an option, or a command, that there is not, and for what is no line of defaults.
    [[nodiscard]] std::vector<CLI::ConfigItem> from_config(std::istream& in) const override {
        const std::string text{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
        std::vector<default_line> lines = defaults_text{text, file()}.lines();
        for (const default_line& line : lines) {
            check(line);
        }
        std::stable_partition(lines.begin(), lines.end(),
                              [](const default_line& line) { return !line.command.empty(); });
        std::vector<CLI::ConfigItem> taken;
        used_.clear();
        for (const CLI::App* const given : app_.get_subcommands()) {
            std::vector<const CLI::Option*> settled;
            for (const default_line& line : lines) {
                const CLI::Option* const option = option_of(*given, line.option);
                const bool is_meant = line.command.empty() || line.command == given->get_name();
                if (!is_meant || option == nullptr || !option->empty() || is_in_environment(line.option) ||
                    std::find(settled.begin(), settled.end(), option) != settled.end()) {
                    continue;
                }
                settled.push_back(option);
                if (!line.values.empty()) {
                    CLI::ConfigItem& item = taken.emplace_back();  // of which versions of CLI11 have other members, too
                    item.parents = {given->get_name()};
                    item.name = line.option;
                    item.inputs = line.values;
                    used_.push_back({option, line.number});
                }
            }
        }
        return taken;
    }

    /// For a message about an option whose value comes from the file: a line that says where it stands; else nothing.
    [[nodiscard]] std::string place_of(std::string_view message) const {
        for (const auto& [option, line] : used_) {
            for (const std::string& name : option->get_lnames()) {
                const std::size_t at = message.find("--" + name);
                const std::size_t end = at + name.size() + 2;
                if (at != std::string_view::npos && message.find_first_of("abcdefghijklmnopqrstuvwxyz-", end) != end) {
                    return "--" + name + " has its value from " + file() + ", line " + std::to_string(line) + ".";
                }
            }
        }
        return {};
    }

private:
    [[nodiscard]] static bool may_have_default(const CLI::Option& option) {
        return option.get_configurable() && !option.get_positional();
    }
    [[nodiscard]] static const CLI::Option* option_of(const CLI::App& command, const std::string& name) {
        for (const CLI::Option* const option : command.get_options()) {
            if (may_have_default(*option) && option->check_lname(name)) {
                return option;
            }
        }
        return nullptr;
    }

    [[nodiscard]] std::string file() const {
        const auto files = app_.get_config_ptr()->as<std::vector<std::string>>();
        return files.empty() ? "the file" : files.front();
    }

    void check(const default_line& line) const {
        std::vector<std::string> commands;
        std::vector<std::string> options;
        for (const CLI::App* const command : app_.get_subcommands({})) {
            commands.push_back(command->get_name());
            if (!line.command.empty() && line.command != command->get_name()) {
                continue;
            }
            for (const CLI::Option* const option : command->get_options()) {
                if (may_have_default(*option)) {
                    options.insert(options.end(), option->get_lnames().begin(), option->get_lnames().end());
                }
            }
        }
        if (!line.command.empty() && std::find(commands.begin(), commands.end(), line.command) == commands.end()) {
            defaults_text::refuse_line(
                file(), line.number,
                "there is no command \"" + line.command + "\"" + suggestion(line.command, commands));
        }
        std::sort(options.begin(), options.end());  // several commands have an option
        options.erase(std::unique(options.begin(), options.end()), options.end());
        if (!std::binary_search(options.begin(), options.end(), line.option)) {
            defaults_text::refuse_line(
                file(), line.number,
                (line.command.empty() ? std::string{"no command has an option"} : line.command + " has no option") +
                    " \"" + line.option + "\"" + suggestion(line.option, options));
        }
    }

    CLI::App& app_;
    mutable std::vector<std::pair<const CLI::Option*, std::size_t>> used_;  // and the lines in which they stand
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
