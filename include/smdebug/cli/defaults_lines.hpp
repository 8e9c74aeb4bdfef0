// The lines of a file of defaults, in as much of TOML as defaults need.  Read here and not by CLI11, whose versions differ
// in comments, escapes and arrays, and none of which tells a line's number.
#pragma once

#include <smdebug/cli/console.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// An option that has a default.
struct default_line {
    std::string command = {};  ///< for which; empty: all that have the option
    std::string option = {};   ///< its long name, without "--"
    std::vector<std::string> values = {};
    std::size_t number = 0;  ///< of the line, from 1
};

/// Goes through the text.
class defaults_text {
public:
    /// `file`: its name, for errors.  Borrows both.
    defaults_text(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    /// The lines, in their order.  Errors: usage_error, with the file and the line's number.
    [[nodiscard]] std::vector<default_line> lines() {
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

    /// Says what is wrong where the text is read.
    [[noreturn]] void refuse(const std::string& why) const { refuse_line(file_, line_, why); }
    [[noreturn]] static void refuse_line(std::string_view file, std::size_t line, const std::string& why) {
        throw usage_error("the defaults in " + std::string{file} + ", line " + std::to_string(line) + ": " + why,
                          "Mend the file, or set SMDEBUG_CONFIG to nothing.");
    }

private:
    [[nodiscard]] bool at_end() const noexcept { return text_.empty(); }
    [[nodiscard]] bool at(char c) const noexcept { return text_.starts_with(c); }
    bool take(char c) {
        if (!at(c)) {
            return false;
        }
        line_ += c == '\n' ? 1U : 0U;
        text_.remove_prefix(1);
        return true;
    }
    void skip_blanks() {
        while (take(' ') || take('\t') || take('\r')) {
        }
    }
    void skip_comment() {
        skip_blanks();
        if (at('#')) {
            text_.remove_prefix(std::min(text_.find('\n'), text_.size()));
        }
    }
    void skip_empty_lines() {
        do {
            skip_comment();
        } while (take('\n'));
    }
    void end_line() {
        skip_comment();
        if (!at_end() && !take('\n')) {
            refuse("\"" + rest_of_line() + "\" is too much");
        }
    }
    [[nodiscard]] std::string rest_of_line() const {
        std::string rest{text_.substr(0, text_.find('\n'))};
        return rest.substr(0, std::min(rest.find_last_not_of(" \t\r") + 1, std::size_t{40}));
    }

    // Takes characters as long as they are none of these.
    std::string take_until(std::string_view these) {
        const std::size_t size = std::min(text_.find_first_of(these), text_.size());
        std::string taken{text_.substr(0, size)};
        text_.remove_prefix(size);
        return taken;
    }
    std::string name() { return take_until(" \t\r\n=[]#.\"'"); }

    [[nodiscard]] default_line one_line(const std::string& section) {
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

    [[nodiscard]] std::string value() {
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
    void close(char quote) {
        if (!take(quote)) {
            refuse("a text has no end");
        }
    }
    [[nodiscard]] char escaped() {
        for (const auto& [letter, meaning] : {std::pair{'"', '"'}, {'\\', '\\'}, {'n', '\n'}, {'t', '\t'}}) {
            if (take(letter)) {
                return meaning;
            }
        }
        refuse(R"(behind \ stands ", \, n or t; or write '...', where \ is a character as any other)");
    }

    std::string_view text_;  // what is still to be read
    std::string_view file_;
    std::size_t line_ = 1;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
