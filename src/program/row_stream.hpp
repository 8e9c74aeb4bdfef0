// Rows that are printed as they come, in the three formats: for commands that run for hours.
// Tables cannot know how wide their cells will be: the columns say how wide they should be at least.
#pragma once

#include <program/console.hpp>
#include <program/rows.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// All rows of a command, flushed as they come.
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
