#include <program/database/canonical_rows.hpp>

#include <program/database/schema.hpp>
#include <program/database/sqlite.hpp>
#include <smdebug/core/error.hpp>

#include <array>
#include <charconv>
#include <chrono>
#include <string_view>
#include <utility>

namespace smdebug::inline v1::detail::sqlite {

inline void append_value(std::string& line, const statement& row, int column) {
    if (row.is_null(column)) {
        line += "NULL";
    } else if (row.is_integer(column)) {
        line += std::to_string(row.integer(column));
    } else if (row.is_real(column)) {
        std::array<char, 32> digits{};
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), row.real(column)).ptr;
        line.append(digits.data(), end).append("r");  // 1 is not 1.0
    } else {
        line += '"';
        for (const char each : row.text(column)) {
            line += each == '\n' ? "\\n" : each == '\\' ? "\\\\" : each == '"' ? "\\\"" : std::string(1, each);
        }
        line += '"';
    }
}

std::string canonical_rows(const std::string& path) {
    if (!look_at_file(path)) {
        throw not_found("there is no database " + path, {.where = path});
    }
    connection from{path, access::write, std::chrono::seconds{10}};
    const std::array<std::pair<std::string_view, std::string>, 5> tables{{
        {"runs",
         "SELECT path, place, state, error, version, bytes, questions.text, steps, last_step, workers, tensors FROM "
         "runs "
         "JOIN questions ON questions.id = question ORDER BY path"},
        {"results",
         "SELECT path, number, rule, status, first_step, steps_evaluated, steps_met, steps_skipped, results.tensors, "
         "unread, "
         "details FROM results JOIN runs ON runs.id = run ORDER BY path, number"},
        {"findings",
         "SELECT path, result, number, met, damaged, rule, step, mode, mode_step, tensor, worker, value, threshold, "
         "message "
         "FROM findings JOIN runs ON runs.id = run ORDER BY path, result, number"},
        {"messages", "SELECT path, number, kind, text FROM messages JOIN runs ON runs.id = run ORDER BY path, number"},
        {"reductions",
         "SELECT path, number, tensor, worker, step, mode, mode_step, dtype, shape, count, known, " +
             reduction_columns() +
             ", nan, pos_inf, neg_inf, zeros FROM reductions JOIN runs ON runs.id = run ORDER BY path, number"},
    }};
    std::string lines;
    from.run("BEGIN");  // all tables as they were at one moment
    for (const auto& [name, sql] : tables) {
        statement row = from.prepare(sql);
        while (row.next()) {
            lines += name;
            for (int column = 0; column < row.columns(); ++column) {
                lines += ' ';
                append_value(lines, row, column);
            }
            lines += '\n';
        }
    }
    from.run("COMMIT");
    return lines;
}

}  // namespace smdebug::inline v1::detail::sqlite
