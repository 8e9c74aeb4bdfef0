// Rows of results in the three formats: an aligned table, CSV, JSON (one object a line).
// A command says what is in a cell; how it looks is decided here.
#pragma once

#include <smdebug/cli/console.hpp>
#include <smdebug/cli/table.hpp>
#include <smdebug/cli/text.hpp>
#include <smdebug/core/csv_text.hpp>
#include <smdebug/core/json_text.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

enum class output_format : std::uint8_t { table, csv, json };

using smdebug::detail::append_csv_field;

/// Appends a JSON list of strings.
inline void append_json_list(std::string& out, std::span<const std::string> texts) {
    out += '[';
    for (const std::string& each : texts) {
        out += &each == texts.data() ? "" : ",";
        append_json_string(out, each);
    }
    out += ']';
}

/// A double: short in tables, with 17 digits elsewhere.
[[nodiscard]] inline std::string number_text(double value, output_format format) {
    return format == output_format::table && std::isfinite(value) ? short_text(value) : double_text(value);
}

/// Rows in the making: text for csv and json, cells for tables, which need all rows before they know their widths.
/// Each row is one call a column, in order; end_row() ends it.  Clear it with take().
/// Texts are made printable, but for CSV that does not go to a terminal, which has them exactly.
class row_buffer {
public:
    row_buffer(output_format format, std::span<const column> columns, bool on_terminal = false)
        : format_(format), on_terminal_(on_terminal), columns_(columns) {}

    void text(std::string_view value) {
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
    void number(double value) {
        if (format_ == output_format::json) {
            append_json_number(next(), value);
        } else {
            plain(number_text(value, format_));
        }
        ++place_;
    }
    void integer(std::integral auto value) {
        char digits[24] = {};
        const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        plain({digits, static_cast<std::size_t>(end - digits)});
        ++place_;
    }
    /// A value that is JSON already, in a row of JSON.
    void json(std::string_view value) {
        plain(value);
        ++place_;
    }
    /// Several texts: a JSON list, else with semicolons between them.
    void list(std::span<const std::string> texts) {
        if (format_ == output_format::json) {
            append_json_list(next(), texts);
            ++place_;
        } else {
            text(joined(texts, ";"));
        }
    }
    /// "2x3"; tables call a 0-d tensor a scalar.
    void shape(std::span<const std::size_t> extents) {
        text(format_ == output_format::table ? shape_for_people(extents) : shape_text(extents));
    }
    /// A cell without a value: "-" in tables, nothing in CSV, null in JSON.
    void empty() {
        plain(format_ == output_format::table ? "-" : (format_ == output_format::json ? "null" : ""));
        ++place_;
    }
    void end_row() {
        place_ = 0;
        if (format_ != output_format::table) {
            text_ += format_ == output_format::json ? "}\n" : "\n";
        }
    }

    [[nodiscard]] output_format format() const noexcept { return format_; }
    [[nodiscard]] std::span<const column> columns() const noexcept { return columns_; }
    [[nodiscard]] const std::string& text_so_far() const noexcept { return text_; }
    [[nodiscard]] std::vector<std::string>& cells() noexcept { return cells_; }
    /// Forgets the rows, keeps the memory.
    void clear() noexcept {
        text_.clear();
        cells_.clear();
    }

private:
    /// The text, ready for the next cell.
    std::string& next() {
        if (format_ == output_format::json) {
            text_ += place_ == 0 ? "{" : ",";
            append_json_string(text_, columns_[place_].name);
            text_ += ':';
        } else if (place_ > 0) {
            text_ += ',';
        }
        return text_;
    }
    void plain(std::string_view value) {
        if (format_ == output_format::table) {
            cells_.emplace_back(value);
        } else {
            next() += value;
        }
    }

    output_format format_;
    bool on_terminal_;
    std::span<const column> columns_;
    std::size_t place_ = 0;
    std::string text_;
    std::vector<std::string> cells_;
};

/// The columns' names as the first line of a CSV file.
[[nodiscard]] inline std::string csv_head(std::span<const column> columns) {
    row_buffer head{output_format::csv, columns};
    for (const column& each : columns) {
        head.text(each.name);
    }
    head.end_row();
    return head.text_so_far();
}

/// All rows of a command, on their way to the console: csv and json go out as they come, tables at the end.
class row_sink {
public:
    row_sink(console& to, output_format format, std::vector<column> columns)
        : to_(to), format_(format), columns_(std::move(columns)) {
        if (format_ == output_format::csv) {
            to_.print(csv_head(columns_));
        }
    }
    row_sink(const row_sink&) = delete;
    row_sink& operator=(const row_sink&) = delete;
    ~row_sink() = default;

    [[nodiscard]] output_format format() const noexcept { return format_; }
    /// An empty buffer for this command's rows.  Borrows the columns.
    [[nodiscard]] row_buffer buffer() const { return {format_, columns_, to_.results_on_terminal()}; }

    /// Takes the rows of a buffer and empties it.  Errors: output_error.
    void take(row_buffer& rows) {
        if (format_ == output_format::table) {
            cells_.insert(cells_.end(), std::make_move_iterator(rows.cells().begin()),
                          std::make_move_iterator(rows.cells().end()));
        } else {
            to_.print(rows.text_so_far());
        }
        rows.clear();
    }
    /// Prints what is left; `otherwise` for a table without rows.  Errors: output_error.
    void finish(std::string_view otherwise) {
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

private:
    console& to_;
    output_format format_;
    std::vector<column> columns_;
    std::vector<std::string> cells_;
};

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
