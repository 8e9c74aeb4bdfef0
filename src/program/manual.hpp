// Manual pages of the program and of each command, in roff, made from the table of commands.
#pragma once

#include <program/command_table.hpp>
#include <program/console.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// A page: "smdebug-ls.1", and its content.
struct manual_page {
    std::string file = {};
    std::string text = {};
};

struct manual_arguments {
    std::vector<manual_page> pages = {};
    std::optional<std::string> folder = {};  ///< if unset, pages are printed
};

/// Escapes a text within a line of roff: each character is literal, and "-" is a minus, as in options, not a hyphen.
[[nodiscard]] std::string roff(std::string_view text);

/// Escapes a whole line of roff, which never becomes a request.
[[nodiscard]] std::string roff_line(std::string_view text);

/// A phrase with a full stop; its first letter is unchanged, as it may begin with a name.
[[nodiscard]] std::string sentence(std::string_view phrase);

/// The page of a command, or of the program.
[[nodiscard]] manual_page page_of(const command_table& table, const command_entry& command);

/// The page of an existing command; of the program if empty.
[[nodiscard]] manual_page page_of(const command_table& table, std::string_view command);

[[nodiscard]] std::vector<manual_page> all_manual_pages(const command_table& table);

/// Prints the pages, or writes them into the folder, which is made where it is missing.  Errors: those of files.
[[nodiscard]] int print_manual(const manual_arguments& args, console& to);

}  // namespace smdebug::inline v1::cli::detail
