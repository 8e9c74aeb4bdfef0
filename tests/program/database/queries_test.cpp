// The page docs/how-to/batch.md, its section about databases: its queries, run as they stand there, and its columns.
#include "program/database/results.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <program/database/results_database.hpp>
#include <program/database/sqlite.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
namespace sqlite = smdebug::detail::sqlite;

namespace {

std::vector<std::string> section_lines() {
    std::istringstream page{file_content(SMDEBUG_TEST_DATA "/../../docs/how-to/batch.md")};
    std::vector<std::string> lines;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        inside = line.starts_with("## ") ? line == "## Results in a database" : inside;
        if (inside) {
            lines.push_back(line);
        }
    }
    return lines;
}

std::vector<std::string> queries() {
    std::vector<std::string> all;
    bool inside = false;
    for (const std::string& line : section_lines()) {
        if (line == "```sql") {
            all.emplace_back();
        }
        if (inside && line != "```") {
            all.back() += line + "\n";
        }
        inside = line == "```sql" || (inside && line != "```");
    }
    return all;
}

/// A database with one of everything that the queries ask about.
void fill(const std::string& file) {
    results_database database{file};
    database.write(some_result(1, 2), "all rules");
    run_result healthy = some_result(2, 2);
    healthy.verdicts.erase(healthy.verdicts.begin());
    healthy.state = run_state::growing;
    database.write(healthy, "all rules");
    run_result unread = healthy;
    unread.run.path = "runs/3";
    unread.verdicts[0].outcome.unread = 2;
    database.write(unread, "all rules");
    database.write(failed_result(4, "no such file"), "all rules");
    run_result damaged = healthy;
    damaged.run.path = "runs/6";
    damaged.state = run_state::incomplete;
    database.write(damaged, "all rules");
    run_result removed = some_result(7, 2);
    database.write(removed, "all rules");
    database.mark_gone(removed.run.path, "it is no longer there", [](std::string_view) { return true; });
    run_result late = some_result(5, 1);
    late.verdicts[0].outcome.findings.erase(late.verdicts[0].outcome.findings.begin());
    late.verdicts.push_back(some_result(5, 1).verdicts[0]);
    late.verdicts[1].name = "rule_x";
    late.verdicts[1].outcome.findings[0].value = std::numeric_limits<double>::quiet_NaN();
    std::vector<reduction_row> rows = some_reductions(1);
    rows[0].reductions.nan = 0;
    rows.resize(4, rows[0]);
    rows[1].step = 30;
    rows[1].reductions.nan = 1;
    rows[2] = rows[1];
    rows[2].step = rows[3].step = 40;
    rows[3].name = "fc2.weight";
    rows[3].reductions.value[reduction_key{reduction::max, true}.index()] = 2e6;
    database.write(with_reductions(late, rows), "all rules, and numbers");
}

/// What a query answers: a line a row, columns with blanks between them; runs as they were named.
std::string answer(sqlite::connection& from, const std::string& query) {
    std::string text;
    sqlite::statement row = from.prepare(query);
    while (row.next()) {
        for (int i = 0; i < row.columns(); ++i) {
            std::string cell{row.is_null(i) ? "NULL" : row.text(i)};
            const std::string here = std::filesystem::current_path().string() + "/";
            text.append(i == 0 ? "" : " ").append(cell.starts_with(here) ? cell.substr(here.size()) : cell);
        }
        text += '\n';
    }
    return text;
}

}  // namespace

TEST_CASE("the page's five queries answer what they say") {
    const std::vector<std::string> all = queries();
    REQUIRE(all.size() == 5);
    const temporary_folder place;
    fill(place.path() + "/results.db");
    sqlite::connection from{place.path() + "/results.db", sqlite::access::write, 1s};
    CHECK(answer(from, all[0]) ==
          "runs/1 rule_0 10 gradient/fc1.weight 1.0e-10\n"
          "runs/5 rule_x 10 gradient/fc1.weight NULL\n"
          "runs/5 rule_0 20 gradient/fc1.weight 5.0e-11\n");
    CHECK(answer(from, all[1]) == "rule_0 2 10 15.0\nrule_x 1 10 10.0\n");
    CHECK(answer(from, all[2]) == "runs/4 failed no such file\nruns/6 incomplete \n");
    CHECK(answer(from, all[3]) == "runs/2\n");
    CHECK(answer(from, all[4]) == "runs/5 fc1.weight worker_0 30\nruns/5 fc2.weight worker_0 40\n");
}

TEST_CASE("the page names every table, view and column") {
    const temporary_folder place;
    { const results_database made{place.path() + "/results.db"}; }
    sqlite::connection from{place.path() + "/results.db", sqlite::access::write, 1s};
    const std::vector<std::string> lines = section_lines();
    sqlite::statement table = from.prepare("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')");
    std::size_t tables = 0;
    while (table.next()) {
        const std::string name{table.text(0)};
        std::string row;
        for (const std::string& line : lines) {
            row = line.starts_with("| `" + name + "`") ? line : row;
        }
        CHECK_MESSAGE(!row.empty(), name);
        sqlite::statement column = from.prepare("SELECT name, cid FROM pragma_table_info(?1)");
        column.with(std::string_view{name});
        while (column.next()) {
            const std::string column_name{column.text(0)};
            const std::int64_t number = column.integer(1);
            const bool is_one_of_18 = name == "reductions" && number > 11 && number < 28;  // "`min` to `abs_l2`"
            CHECK_MESSAGE((is_one_of_18 || row.find("`" + column_name + "`") != std::string::npos), name, ".",
                          column_name);
        }
        ++tables;
    }
    CHECK(tables == 8);
}
