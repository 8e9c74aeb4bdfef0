#include <program/table.hpp>

#include "program/captured.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

const std::vector<cli::detail::column> columns{cli::detail::text_column("run", cli::detail::shortened::at_start),
                                               {"rule"},
                                               {.name = "count", .right = true, .gives_way = 2},
                                               {.name = "first", .right = true, .gives_way = 1},
                                               cli::detail::text_column("details", cli::detail::shortened::at_end)};
const texts cells{"a/very/long/path/runs/mlp",
                  "all_zero",
                  "12",
                  "0",
                  "all values of this tensor are zero, every one",
                  "runs/b",
                  "dead_relu",
                  "3",
                  "7",
                  "fine"};

}  // namespace

TEST_CASE("table: without a limit, or where it has room, a table is whole") {
    const std::string whole = cli::detail::table_text(columns, cells);
    CHECK(contains(
        whole, "a/very/long/path/runs/mlp  all_zero      12      0  all values of this tensor are zero, every one\n"));
    CHECK(contains(whole, "runs/b                     dead_relu      3      7  fine\n"));
    for (const std::size_t limit : {std::size_t{0}, std::size_t{98}, std::size_t{500}}) {
        const cli::detail::fitted_table made = cli::detail::fit_table(columns, cells, limit);
        CHECK(made.text == whole);
        CHECK(made.left_out.empty());
    }
}

TEST_CASE(
    "table: where a line has too little room, long texts are cut first: paths at their start, sentences at their end") {
    const cli::detail::fitted_table made = cli::detail::fit_table(columns, cells, 62);
    CHECK(made.left_out.empty());
    for (const std::string& line : lines_of(made.text)) {
        CHECK(cli::detail::width_of(line) <= 62);
    }
    CHECK(contains(made.text, ".../runs/mlp  all_zero "));
    CHECK(contains(made.text, "  all values of this t...\n"));
    CHECK(contains(made.text, "\nruns/b        dead_relu "));
}

TEST_CASE(
    "table: columns that give way do where cutting is not enough, and are named; the others stay, too wide if need "
    "be") {
    const cli::detail::fitted_table narrow = cli::detail::fit_table(columns, cells, 60);
    CHECK(narrow.left_out == texts{"count"});
    CHECK(lines_of(narrow.text)[0].starts_with("run"));
    CHECK_FALSE(contains(narrow.text, "count"));
    const cli::detail::fitted_table tiny = cli::detail::fit_table(columns, cells, 10);
    CHECK(tiny.left_out == texts{"count", "first"});
    CHECK(contains(tiny.text, "all_zero"));
}

TEST_CASE("table: a text is cut between characters, not bytes") {
    using cli::detail::cut_text;
    using cli::detail::shortened;
    CHECK(cut_text("abcdefghij", 10, shortened::at_end) == "abcdefghij");
    CHECK(cut_text("abcdefghijk", 10, shortened::at_end) == "abcdefg...");
    CHECK(cut_text("abcdefghijk", 10, shortened::at_start) == "...efghijk");
    CHECK(cut_text("abcdefghijk", 5, shortened::never) == "abcdefghijk");
    CHECK(cut_text("\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC", 5, shortened::at_end) == "\xC3\xBC\xC3\xBC...");
    CHECK(cut_text("\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC\xC3\xBC", 5, shortened::at_start) ==
          "...\xC3\xBC\xC3\xBC");
}
