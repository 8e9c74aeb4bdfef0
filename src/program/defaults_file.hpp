// The file of defaults of options (program/defaults.hpp): where it lies, and its lines, in the subset of TOML that
// defaults need.  Parsed here and not by CLI11, whose versions differ in comments, escapes and arrays, and do not report
// line numbers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli {

/// Where the defaults stand: the file that SMDEBUG_CONFIG names (where it is empty: none), else smdebug/config.toml in
/// the folder XDG_CONFIG_HOME, which is ~/.config unless it is set.  Empty where there is no such file.
/// Errors: usage_error where SMDEBUG_CONFIG names what is no file, and where the file cannot be read.
[[nodiscard]] std::string defaults_file();

/// Errors: usage_error where `path` is neither a file nor /dev/null, nor a folder, nor missing.
void refuse_device_of_defaults(const std::string& path);

namespace detail {

/// An option that has a default.
struct default_line {
    std::string command = {};  ///< for which; empty for all that have the option
    std::string option = {};   ///< its long name, without "--"
    std::vector<std::string> values = {};
    std::size_t number = 0;  ///< of the line, from 1
};

/// Parses the text.
class defaults_text {
public:
    /// `file`: its name, for errors.  Borrows both.
    defaults_text(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    /// The lines, in their order.  Errors: usage_error, with the file and the line's number.
    [[nodiscard]] std::vector<default_line> lines();

    /// Throws an error for the current position.
    [[noreturn]] void refuse(const std::string& why) const { refuse_line(file_, line_, why); }
    [[noreturn]] static void refuse_line(std::string_view file, std::size_t line, const std::string& why);

private:
    [[nodiscard]] bool at_end() const noexcept { return text_.empty(); }
    [[nodiscard]] bool at(char c) const noexcept { return text_.starts_with(c); }
    bool take(char c);
    void skip_blanks();
    void skip_comment();
    void skip_empty_lines();
    void end_line();
    [[nodiscard]] std::string rest_of_line() const;

    // Takes characters as long as they are none of these.
    std::string take_until(std::string_view these);
    std::string name() { return take_until(" \t\r\n=[]#.\"'"); }

    [[nodiscard]] default_line one_line(const std::string& section);

    [[nodiscard]] std::string value();
    void close(char quote);
    [[nodiscard]] char escaped();

    std::string_view text_;  // what is still to be read
    std::string_view file_;
    std::size_t line_ = 1;
};

}  // namespace detail
}  // namespace smdebug::inline v1::cli
