// Manual pages, of the program and of each command, in roff as man reads it: made from the table of its commands.
#pragma once

#include <program/command_table.hpp>
#include <program/console.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// A page: "smdebug-ls.1", and what is in it.
struct manual_page {
    std::string file = {};
    std::string text = {};
};

struct manual_arguments {
    std::vector<manual_page> pages = {};
    std::optional<std::string> folder = {};  ///< unset: pages are printed
};

/// A text within a line of roff: each character stands for itself, "-" as what options begin with, not as a hyphen.
[[nodiscard]] std::string roff(std::string_view text);

/// The same as a whole line, which is no request, whatever it begins with.
[[nodiscard]] std::string roff_line(std::string_view text);

/// A phrase with its full stop; it begins as it stands, as it may begin with a name.
[[nodiscard]] std::string sentence(std::string_view phrase);

/// The page of a command, or of the program.
[[nodiscard]] manual_page page_of(const command_table& table, const command_entry& command);

/// The page of a command that there is; "": of the program.
[[nodiscard]] manual_page page_of(const command_table& table, std::string_view command);

[[nodiscard]] std::vector<manual_page> all_manual_pages(const command_table& table);

/// Prints the pages, or writes them into the folder, which is made where it is missing.  Errors: those of files.
[[nodiscard]] int print_manual(const manual_arguments& args, console& to);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
