#include <program/defaults_file.hpp>

#include <program/console.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

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

namespace detail {

std::vector<default_line> defaults_text::lines() {
    std::vector<default_line> found;
    std::string command;
    for (skip_empty_lines(); !at_end(); skip_empty_lines()) {
        if (take('[')) {
            skip_blanks();
            command = name();
            skip_blanks();
            if (!take(']')) {
                refuse("a section is a line [COMMAND]");
            }
        } else {
            default_line line = one_line(command);
            for (const default_line& other : found) {
                if (other.command == line.command && other.option == line.option) {
                    refuse(line.option + " has a default already, in line " + std::to_string(other.number) +
                           "; of several values write [A, B]");
                }
            }
            found.push_back(std::move(line));
        }
        end_line();
    }
    return found;
}

void defaults_text::refuse_line(std::string_view file, std::size_t line, const std::string& why) {
    throw usage_error("the defaults in " + std::string{file} + ", line " + std::to_string(line) + ": " + why,
                      "Mend the file, or set SMDEBUG_CONFIG to nothing.");
}

bool defaults_text::take(char c) {
    if (!at(c)) {
        return false;
    }
    line_ += c == '\n' ? 1U : 0U;
    text_.remove_prefix(1);
    return true;
}

void defaults_text::skip_blanks() {
    while (take(' ') || take('\t') || take('\r')) {
    }
}

void defaults_text::skip_comment() {
    skip_blanks();
    if (at('#')) {
        text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
    }
}

void defaults_text::skip_empty_lines() {
    do {
        skip_comment();
    } while (take('\n'));
}

void defaults_text::end_line() {
    skip_comment();
    if (!at_end() && !take('\n')) {
        refuse("\"" + rest_of_line() + "\" is too much");
    }
}

std::string defaults_text::rest_of_line() const {
    std::string rest{text_.substr(0, text_.find('\n'))};
    return rest.substr(0, std::min(rest.find_last_not_of(" \t\r") + 1, std::size_t{40}));
}

std::string defaults_text::take_until(std::string_view these) {
    const std::size_t size = std::min(text_.find_first_of(these), text_.size());
    std::string taken{text_.substr(0, size)};
    text_.remove_prefix(size);
    return taken;
}

default_line defaults_text::one_line(const std::string& section) {
    default_line line{.command = section, .number = line_};
    const std::string whole = rest_of_line();
    line.option = name();
    if (section.empty() && take('.')) {  // COMMAND.OPTION
        line.command = std::exchange(line.option, name());
    }
    skip_blanks();
    if (line.option.empty() || !take('=')) {
        refuse("\"" + whole + "\" is no line OPTION = VALUE");
    }
    skip_blanks();
    if (!take('[')) {
        line.values.push_back(value());
        return line;
    }
    for (skip_empty_lines(); !take(']'); skip_empty_lines()) {
        line.values.push_back(value());
        skip_empty_lines();
        if (!take(',') && !at(']')) {
            refuse("between values stands a comma, behind the last \"]\"");
        }
    }
    return line;
}

std::string defaults_text::value() {
    if (take('\'')) {
        std::string taken = take_until("'\n");
        close('\'');
        return taken;
    }
    if (!take('"')) {
        std::string word = take_until(" \t\r\n,[]#\"'");
        if (word.empty()) {
            refuse("a value is missing");
        }
        return word;
    }
    std::string text = take_until("\"\\\n");
    while (take('\\')) {
        text += escaped();
        text += take_until("\"\\\n");
    }
    close('"');
    return text;
}

void defaults_text::close(char quote) {
    if (!take(quote)) {
        refuse("a text has no end");
    }
}

char defaults_text::escaped() {
    for (const auto& [letter, meaning] : {std::pair{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}}) {
        if (take(letter)) {
            return meaning;
        }
    }
    refuse(R"(behind \ stands ", \, n or t; or write '...', where \ is a character as any other)");
}

}  // namespace detail
}  // namespace smdebug::inline v1::cli
