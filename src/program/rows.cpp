#include <program/rows.hpp>

#include <program/table.hpp>
#include <program/text.hpp>
#include <smdebug/core/dtype.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::cli::detail {

void append_json_list(std::string& out, std::span<const std::string> texts) {
    out += '[';
    for (const std::string& each : texts) {
        out += &each == texts.data() ? "" : ",";
        append_json_string(out, each);
    }
    out += ']';
}

std::string number_text(double value, output_format format) {
    return format == output_format::table && std::isfinite(value) ? short_text(value) : double_text(value);
}

row_buffer::row_buffer(output_format format, std::span<const column> columns, bool on_terminal)
    : format_(format), on_terminal_(on_terminal), columns_(columns) {}

void row_buffer::text(std::string_view value) {
    switch (format_) {
        case output_format::table:
            cells_.push_back(printable(value));
            break;
        case output_format::csv:
            on_terminal_ ? append_csv_field(next(), printable(value)) : append_csv_field(next(), value);
            break;
        case output_format::json:
            append_json_string(next(), value);
            break;
    }
    ++place_;
}

void row_buffer::number(double value) {
    if (format_ == output_format::json) {
        append_json_number(next(), value);
    } else {
        plain(number_text(value, format_));
    }
    ++place_;
}

void row_buffer::json(std::string_view value) {
    plain(value);
    ++place_;
}

void row_buffer::list(std::span<const std::string> texts) {
    if (format_ == output_format::json) {
        append_json_list(next(), texts);
        ++place_;
    } else {
        text(joined(texts, ";"));
    }
}

void row_buffer::shape(std::span<const std::size_t> extents) {
    text(format_ == output_format::table ? shape_for_people(extents) : shape_text(extents));
}

void row_buffer::empty() {
    plain(format_ == output_format::table ? "-" : (format_ == output_format::json ? "null" : ""));
    ++place_;
}

void row_buffer::end_row() {
    place_ = 0;
    if (format_ != output_format::table) {
        text_ += format_ == output_format::json ? "}\n" : "\n";
    }
}

void row_buffer::clear() noexcept {
    text_.clear();
    cells_.clear();
}

std::string& row_buffer::next() {
    if (format_ == output_format::json) {
        text_ += place_ == 0 ? "{" : ",";
        append_json_string(text_, columns_[place_].name);
        text_ += ':';
    } else if (place_ > 0) {
        text_ += ',';
    }
    return text_;
}

void row_buffer::plain(std::string_view value) {
    if (format_ == output_format::table) {
        cells_.emplace_back(value);
    } else {
        next() += value;
    }
}

std::string csv_head(std::span<const column> columns) {
    row_buffer head{output_format::csv, columns};
    for (const column& each : columns) {
        head.text(each.name);
    }
    head.end_row();
    return head.text_so_far();
}

row_sink::row_sink(console& to, output_format format, std::vector<column> columns)
    : to_(to), format_(format), columns_(std::move(columns)) {
    if (format_ == output_format::csv) {
        to_.print(csv_head(columns_));
    }
}

void row_sink::take(row_buffer& rows) {
    if (format_ == output_format::table) {
        cells_.insert(cells_.end(), std::make_move_iterator(rows.cells().begin()),
                      std::make_move_iterator(rows.cells().end()));
    } else {
        to_.print(rows.text_so_far());
    }
    rows.clear();
}

void row_sink::finish(std::string_view otherwise) {
    if (format_ == output_format::table) {
        if (cells_.empty()) {
            to_.print(otherwise);
        } else {
            const fitted_table made = fit_table(columns_, cells_, to_.table_width());
            to_.print(made.text);
            if (!made.left_out.empty()) {
                to_.note("no room for " + joined(made.left_out, ", ") + "; --width 0 shows every column whole");
            }
        }
    }
    cells_.clear();
}

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
