#include <program/defaults.hpp>

#include <program/console.hpp>
#include <program/text.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace smdebug::inline v1::cli::detail {

namespace {

// Whether the environment sets an option: a variable overrides the file.
bool is_in_environment(std::string_view option) {
    const auto is_set = [](const char* name) {
        const char* const value = std::getenv(name);
        return value != nullptr && *value != '\0';
    };
    return (option == "cache" && is_set("SMDEBUG_CACHE_DIR")) ||
           (option == "endpoint-url" && (is_set("AWS_ENDPOINT_URL_S3") || is_set("AWS_ENDPOINT_URL")));
}

}  // namespace

std::vector<CLI::ConfigItem> defaults_reader::from_config(std::istream& in) const {
    constexpr std::size_t most = std::size_t{1} << 20U;
    std::string text(most + 1, '\0');
    in.read(text.data(), most + 1);
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) {
        throw usage_error("the defaults in " + file() + " have more than 1 MiB", "Is that the file of defaults?");
    }
    std::vector<default_line> lines = defaults_text{text, file()}.lines();
    for (const default_line& line : lines) {
        check(line);
    }
    std::stable_partition(lines.begin(), lines.end(), [](const default_line& line) { return !line.command.empty(); });
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

std::string defaults_reader::place_of(std::string_view message) const {
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

bool defaults_reader::may_have_default(const CLI::Option& option) {
    return option.get_configurable() && !option.get_positional();
}

const CLI::Option* defaults_reader::option_of(const CLI::App& command, const std::string& name) {
    for (const CLI::Option* const option : command.get_options()) {
        if (may_have_default(*option) && option->check_lname(name)) {
            return option;
        }
    }
    return nullptr;
}

std::string defaults_reader::file() const {
    const auto files = app_.get_config_ptr()->as<std::vector<std::string>>();
    return files.empty() ? "the file" : files.front();
}

void defaults_reader::check(const default_line& line) const {
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
            file(), line.number, "there is no command \"" + line.command + "\"" + did_you_mean(line.command, commands));
    }
    std::sort(options.begin(), options.end());  // several commands have an option
    options.erase(std::unique(options.begin(), options.end()), options.end());
    if (!std::binary_search(options.begin(), options.end(), line.option)) {
        defaults_text::refuse_line(
            file(), line.number,
            (line.command.empty() ? std::string{"no command has an option"} : line.command + " has no option") + " \"" +
                line.option + "\"" + did_you_mean(line.option, options));
    }
}

}  // namespace smdebug::inline v1::cli::detail
