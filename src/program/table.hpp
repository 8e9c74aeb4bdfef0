// Aligned tables of text, which can be made to fit a terminal.
#pragma once

#include <smdebug/core/printable_text.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// Where a cell that is too wide for a terminal is cut: the end of a path matters most, and the beginning of a
/// sentence. Names that may be arguments of another command are never cut.
enum class shortened : std::uint8_t { never, at_start, at_end };

/// A column's name, and how tables show it.
struct column {
    std::string name;
    bool right = false;
    std::size_t least_width = 0;  ///< for tables that are printed before all of their cells are known
    shortened cut = shortened::never;
    /// If the table is too wide, columns with the highest number are left out first, and those with 0 never.
    std::uint8_t gives_way = 0;
};

/// A text column that may be cut.
[[nodiscard]] column text_column(std::string name, shortened cut, std::uint8_t gives_way = 0);

/// How wide a text is on a terminal, taking every character as one column.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;

/// Appends one cell of a table; after the last of a row, a line's end.  A cell that is too wide pushes the rest.
void append_cell(std::string& out, std::span<const column> columns, std::span<const std::size_t> widths,
                 std::size_t place, std::string_view cell);

/// The columns' names and a line below them.
[[nodiscard]] std::string table_head(std::span<const column> columns, std::span<const std::size_t> widths);

/// The text in no more than `width` characters, with "..." for those that are left out.
[[nodiscard]] std::string cut_text(std::string_view text, std::size_t width, shortened where);

/// A table, and the columns left out for lack of room.
struct fitted_table {
    std::string text;
    std::vector<std::string> left_out = {};
};

/// An aligned table: names, a line, rows; plain ASCII but for what the cells hold.  Where lines would have more than
/// `limit` characters (0 for no limit), columns that may give way are left out, then cells that may be cut are; what
/// still has no room stays too wide.
[[nodiscard]] fitted_table fit_table(std::span<const column> columns, std::span<const std::string> cells,
                                     std::size_t limit);

/// The text of a table whose lines may have any length.
[[nodiscard]] std::string table_text(std::span<const column> columns, std::span<const std::string> cells);

}  // namespace smdebug::inline v1::cli::detail
