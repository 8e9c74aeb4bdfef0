// Rows that are printed as they come, in the three formats: for commands that run for hours.
// Tables cannot know how wide their cells will be: the columns say how wide they should be at least.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/rows.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// All rows of a command, flushed as they come.
/// Threads: buffer() may be called at once; the rest is for one thread at a time, as is the console.
class row_stream {
public:
    row_stream(console& to, output_format format, std::vector<column> columns)
        : to_(to), format_(format), columns_(std::move(columns)) {
        for (const column& each : columns_) {
            widths_.push_back(std::max(each.least_width, width_of(each.name)));
        }
    }
    row_stream(const row_stream&) = delete;
    row_stream& operator=(const row_stream&) = delete;
    ~row_stream() = default;

    /// An empty buffer for this command's rows.  Borrows the columns.
    [[nodiscard]] row_buffer buffer() const { return {format_, columns_, to_.results_on_terminal()}; }
    [[nodiscard]] bool empty() const noexcept { return empty_; }

    /// The columns' names: of a table, of CSV; JSON has none.  Errors: output_error.
    void head() {
        if (format_ != output_format::json) {
            out(format_ == output_format::csv ? csv_head(columns_) : table_head(columns_, widths_));
        }
    }
    /// Prints the rows of a buffer and empties it.  Errors: output_error.
    void take(row_buffer& rows) {
        std::string text = rows.text_so_far();
        for (std::size_t i = 0; i < rows.cells().size(); ++i) {
            append_cell(text, columns_, widths_, i % columns_.size(), rows.cells()[i]);
        }
        rows.clear();
        empty_ = empty_ && text.empty();
        out(text);
    }

private:
    void out(const std::string& text) {
        to_.print(text);
        to_.flush();
    }

    console& to_;
    output_format format_;
    std::vector<column> columns_;
    std::vector<std::size_t> widths_;
    bool empty_ = true;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
