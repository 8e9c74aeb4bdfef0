// Whether the program's streams are a terminal, and how wide.
#pragma once

#include <program/console.hpp>

#include <cstddef>

namespace smdebug::inline v1::cli {

/// How many characters a line of the terminal has: as COLUMNS says, else the terminal; 0 if unknown.
[[nodiscard]] std::size_t terminal_width(int handle) noexcept;

/// Opens closed standard descriptors, so that no file of ours gets their numbers and the program's messages.  They open
/// /dev/null in the wrong direction: reading and writing them fail as before.
void open_standard_descriptors() noexcept;

/// What standard output and standard error are connected to.  What goes to a file or pipe has no width, whatever
/// COLUMNS says: other programs read it.
[[nodiscard]] detail::console_kind terminal_kind() noexcept;

}  // namespace smdebug::inline v1::cli
