#include <program/defaults_lines.hpp>

#include <program/console.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::cli::detail {

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

}  // namespace smdebug::inline v1::cli::detail
