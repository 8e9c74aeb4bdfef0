#include <program/table.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace smdebug::inline v1::cli::detail {

column text_column(std::string name, shortened cut, std::uint8_t gives_way) {
    return {.name = std::move(name), .cut = cut, .gives_way = gives_way};
}

std::size_t width_of(std::string_view text) noexcept {
    return text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues_utf8_character));
}

void append_cell(std::string& out, std::span<const column> columns, std::span<const std::size_t> widths,
                 std::size_t place, std::string_view cell) {
    const std::size_t width = width_of(cell);
    const std::size_t padding = width < widths[place] ? widths[place] - width : 0;
    const bool last = place + 1 == columns.size();
    out.append(columns[place].right ? padding : 0, ' ').append(cell);
    out.append(columns[place].right || last ? 0 : padding, ' ').append(last ? "\n" : "  ");
}

std::string table_head(std::span<const column> columns, std::span<const std::size_t> widths) {
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        append_cell(out, columns, widths, i, columns[i].name);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        append_cell(out, columns, widths, i, std::string(widths[i], '-'));
    }
    return out;
}

namespace {

// No column is made narrower than that: a sentence needs more than the end of a path.
std::size_t least_cut_width(shortened cut) noexcept { return cut == shortened::at_end ? 22 : 12; }

// Where the character at `place` begins, in bytes.
std::size_t byte_of(std::string_view text, std::size_t place) noexcept {
    std::size_t begin = 0;
    while (begin < text.size() && (continues_utf8_character(text[begin]) || place-- != 0)) {
        ++begin;
    }
    return begin;
}

}  // namespace

std::string cut_text(std::string_view text, std::size_t width, shortened where) {
    constexpr std::string_view gap = "...";
    const std::size_t all = width_of(text);
    if (all <= width || where == shortened::never || width <= gap.size()) {
        return std::string{text};
    }
    const std::size_t kept = width - gap.size();
    const std::size_t before = where == shortened::at_end ? kept : 0;
    return std::string{text.substr(0, byte_of(text, before))}.append(gap).append(
        text.substr(byte_of(text, all - (kept - before))));
}

namespace {

std::size_t line_width(std::span<const std::size_t> widths, std::span<const std::size_t> shown) {
    std::size_t all = shown.empty() ? 0 : 2 * (shown.size() - 1);
    for (const std::size_t place : shown) {
        all += widths[place];
    }
    return all;
}

// Which columns fit into a line of `limit` characters (0 for any length); narrows the `widths` of columns that may be
// cut.
std::vector<std::size_t> fit_columns(std::span<const column> columns, std::vector<std::size_t>& widths,
                                     std::size_t limit) {
    std::vector<std::size_t> shown(columns.size());
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    if (limit == 0) {
        return shown;
    }
    const auto least = [&](std::size_t place) {
        const shortened cut = columns[place].cut;
        return cut == shortened::never ? widths[place] : std::min(widths[place], least_cut_width(cut));
    };
    std::vector<std::size_t> narrow(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        narrow[i] = least(i);
    }
    while (line_width(narrow, shown) > limit) {
        const auto first = std::max_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
            return columns[a].gives_way < columns[b].gives_way;
        });
        if (columns[*first].gives_way == 0) {
            break;
        }
        shown.erase(first);
    }
    for (std::size_t all = line_width(widths, shown); all > limit; --all) {
        const auto widest = std::max_element(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
            return widths[a] - narrow[a] < widths[b] - narrow[b];
        });
        if (widths[*widest] == narrow[*widest]) {
            break;
        }
        --widths[*widest];
    }
    return shown;
}

}  // namespace

fitted_table fit_table(std::span<const column> columns, std::span<const std::string> cells, std::size_t limit) {
    const std::size_t count = columns.size();
    std::vector<std::size_t> widths;
    for (const column& each : columns) {
        widths.push_back(width_of(each.name));
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
        widths[i % count] = std::max(widths[i % count], width_of(cells[i]));
    }
    const std::vector<std::size_t> shown = detail::fit_columns(columns, widths, limit);
    std::vector<column> columns_shown;
    std::vector<std::size_t> widths_shown;
    for (const std::size_t place : shown) {
        columns_shown.push_back(columns[place]);
        widths_shown.push_back(widths[place]);
    }
    fitted_table made{.text = table_head(columns_shown, widths_shown)};
    for (std::size_t row = 0; row + count <= cells.size(); row += count) {
        for (std::size_t i = 0; i < shown.size(); ++i) {
            const std::string& cell = cells[row + shown[i]];
            append_cell(made.text, columns_shown, widths_shown, i,
                        limit == 0 ? cell : detail::cut_text(cell, widths_shown[i], columns_shown[i].cut));
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (std::find(shown.begin(), shown.end(), i) == shown.end()) {
            made.left_out.push_back(columns[i].name);
        }
    }
    return made;
}

std::string table_text(std::span<const column> columns, std::span<const std::string> cells) {
    return fit_table(columns, cells, 0).text;
}

}  // namespace smdebug::inline v1::cli::detail
