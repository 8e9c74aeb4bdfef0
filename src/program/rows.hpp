// Rows of results in the three formats: an aligned table, CSV, JSON (one object a line).
// A command gives the values of cells; this file decides how they look.
#pragma once

#include <program/console.hpp>
#include <program/table.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/core/printable_text.hpp>

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::cli::detail {

enum class output_format : std::uint8_t { table, csv, json };

using smdebug::detail::append_csv_field;

/// Appends a JSON list of strings.
void append_json_list(std::string& out, std::span<const std::string> texts);

/// A double: short in tables, with 17 digits elsewhere.
[[nodiscard]] std::string number_text(double value, output_format format);

/// Rows in the making: text for csv and json, cells for tables, which need all rows before they know their widths.
/// Each row is one call a column, in order; end_row() ends it.  Clear it with take().
/// Texts are made printable, except in CSV that does not go to a terminal, which has the exact texts.
class row_buffer {
public:
    row_buffer(output_format format, std::span<const column> columns, bool on_terminal = false);

    void text(std::string_view value);
    void number(double value);
    void integer(std::integral auto value) {
        char digits[24] = {};
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        plain({digits, static_cast<std::size_t>(end - digits)});
        ++place_;
    }
    /// A value that is JSON already, in a row of JSON.
    void json(std::string_view value);
    /// Several texts: a JSON list, else with semicolons between them.
    void list(std::span<const std::string> texts);
    /// "2x3"; tables call a 0-d tensor a scalar.
    void shape(std::span<const std::size_t> extents);
    /// A cell without a value: "-" in tables, nothing in CSV, null in JSON.
    void empty();
    void end_row();

    [[nodiscard]] output_format format() const noexcept { return format_; }
    [[nodiscard]] std::span<const column> columns() const noexcept { return columns_; }
    [[nodiscard]] const std::string& text_so_far() const noexcept { return text_; }
    [[nodiscard]] std::vector<std::string>& cells() noexcept { return cells_; }
    /// Forgets the rows, keeps the memory.
    void clear() noexcept;

private:
    /// The text, ready for the next cell.
    std::string& next();
    void plain(std::string_view value);

    output_format format_;
    bool on_terminal_;
    std::span<const column> columns_;
    std::size_t place_ = 0;
    std::string text_;
    std::vector<std::string> cells_;
};

/// The columns' names as the first line of a CSV file.
[[nodiscard]] std::string csv_head(std::span<const column> columns);

/// All rows of a command: csv and json are printed as they come, tables at the end.
class row_sink {
public:
    row_sink(console& to, output_format format, std::vector<column> columns);
    row_sink(const row_sink&) = delete;
    row_sink& operator=(const row_sink&) = delete;
    ~row_sink() = default;

    [[nodiscard]] output_format format() const noexcept { return format_; }
    /// Whether a table has no row so far.
    [[nodiscard]] bool empty() const noexcept { return cells_.empty(); }
    /// An empty buffer for this command's rows.  Borrows the columns.
    [[nodiscard]] row_buffer buffer() const { return {format_, columns_, to_.results_on_terminal()}; }

    /// Takes the rows of a buffer and empties it.  Errors: output_error.
    void take(row_buffer& rows);
    /// Prints what is left; `otherwise` for a table without rows.  Errors: output_error.
    void finish(std::string_view otherwise);

private:
    console& to_;
    output_format format_;
    std::vector<column> columns_;
    std::vector<std::string> cells_;
};

/// All rows of a command, flushed as they come: for commands that run for hours.  Tables cannot know how wide their
/// cells will be: the columns say how wide they should be at least.
/// Threads: buffer() may be called at once; the rest is for one thread at a time, as is the console.
class row_stream {
public:
    row_stream(console& to, output_format format, std::vector<column> columns);
    row_stream(const row_stream&) = delete;
    row_stream& operator=(const row_stream&) = delete;
    ~row_stream() = default;

    /// An empty buffer for this command's rows.  Borrows the columns.
    [[nodiscard]] row_buffer buffer() const { return {format_, columns_, to_.results_on_terminal()}; }
    [[nodiscard]] bool empty() const noexcept { return empty_; }

    /// The columns' names: of a table, of CSV; JSON has none.  Errors: output_error.
    void head();
    /// Prints the rows of a buffer and empties it.  Errors: output_error.
    void take(row_buffer& rows);

private:
    void out(const std::string& text);

    console& to_;
    output_format format_;
    std::vector<column> columns_;
    std::vector<std::size_t> widths_;
    bool empty_ = true;
};

}  // namespace smdebug::inline v1::cli::detail
