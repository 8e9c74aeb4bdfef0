#include <program/defaults_file.hpp>

#include <program/console.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

namespace smdebug::inline v1::cli {

void refuse_device_of_defaults(const std::string& path) {
    std::error_code ignored;
    const auto what = std::filesystem::status(path, ignored);
    const bool is_other = std::filesystem::exists(what) && !std::filesystem::is_directory(what) &&
                          !std::filesystem::is_regular_file(what);
    if (is_other && std::filesystem::canonical(path, ignored) != "/dev/null") {
        throw detail::usage_error("the defaults in " + path + " cannot be read: it is a device, a pipe or a socket",
                                  "Name a file.");
    }
}

std::string defaults_file() {
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
        refuse_device_of_defaults(path);
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

}  // namespace smdebug::inline v1::cli
