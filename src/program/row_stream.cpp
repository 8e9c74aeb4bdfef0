#include <program/row_stream.hpp>

#include <program/table.hpp>

#include <algorithm>
#include <utility>

namespace smdebug::inline v1::cli::detail {

row_stream::row_stream(console& to, output_format format, std::vector<column> columns)
    : to_(to), format_(format), columns_(std::move(columns)) {
    for (const column& each : columns_) {
        widths_.push_back(std::max(each.least_width, width_of(each.name)));
    }
}

void row_stream::head() {
    if (format_ != output_format::json) {
        out(format_ == output_format::csv ? csv_head(columns_) : table_head(columns_, widths_));
    }
}

void row_stream::take(row_buffer& rows) {
    std::string text = rows.text_so_far();
    for (std::size_t i = 0; i < rows.cells().size(); ++i) {
        append_cell(text, columns_, widths_, i % columns_.size(), rows.cells()[i]);
    }
    rows.clear();
    empty_ = empty_ && text.empty();
    out(text);
}

void row_stream::out(const std::string& text) {
    to_.print(text);
    to_.flush();
}

}  // namespace smdebug::inline v1::cli::detail
