// All rows of a database of results as lines of text, equal for databases with the same results: without ids, and
// without what differs between scans.  For tests that compare a resumed or merged scan with a plain one.
#pragma once

#include <program/database/sqlite.hpp>

#include "support/standard.hpp"

namespace smdebug_test {

/// A line per row: the runs by path, then the other tables by path and number.  Doubles are exact.
inline std::string canonical_rows(const std::string& path) {
    namespace sqlite = smdebug::detail::sqlite;
    sqlite::connection from{path, sqlite::access::write, std::chrono::seconds{10}};
    std::string lines;
    from.run("BEGIN");  // all tables as they were at one moment
    for (const std::string table : {"runs", "results", "findings", "messages", "reductions"}) {
        std::string columns = "quote(runs.path)";
        sqlite::statement named = from.prepare(
            "SELECT name FROM pragma_table_info(?1) WHERE name NOT IN "
            "('id', 'run', 'path', 'name', 'question', 'scanned_at', 'seconds') ORDER BY cid");
        named.with(table);
        while (named.next()) {
            columns.append(" || ' ' || quote(").append(table).append(".\"").append(named.text(0)).append("\")");
        }
        const bool is_of_run = table != "runs";
        sqlite::statement row = from.prepare(
            "SELECT " + columns + (is_of_run ? "" : " || ' ' || quote(questions.text)") + " FROM " + table +
            (is_of_run ? " JOIN runs ON runs.id = run" : " JOIN questions ON questions.id = question") +
            " ORDER BY runs.path" + (table == "findings" ? ", result" : "") + (is_of_run ? ", number" : ""));
        while (row.next()) {
            lines.append(table).append(" ").append(row.text(0)).append("\n");
        }
    }
    from.run("COMMIT");
    return lines;
}

}  // namespace smdebug_test
