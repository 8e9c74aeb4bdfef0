
#include "program/live_output.hpp"

#include <program/console.hpp>
#include <program/rows.hpp>
#include <program/table.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using cli::detail::output_format;

namespace {

const std::vector<cli::detail::column>& columns() {
    static const std::vector<cli::detail::column> held{{"name", false, 6}, {"count", true}, {"note"}};
    return held;
}

// What is flushed, piece by piece.
std::vector<std::string> pieces(output_format format) {
    live_output out;
    std::vector<std::string> flushed;
    out.on_flush = [&](const std::string& text) { flushed.push_back(text); };
    cli::detail::console to{out.stream(), out.stream()};
    cli::detail::row_stream rows{to, format, columns()};
    rows.head();
    CHECK(rows.empty());
    cli::detail::row_buffer row = rows.buffer();
    for (const char* name : {"a", "b,longer"}) {
        row.text(name);
        row.integer(1);
        row.text("x");
        row.end_row();
        rows.take(row);
        CHECK_FALSE(rows.empty());
    }
    return flushed;
}

}  // namespace

TEST_CASE("row_stream: a table's head comes first, rows as they come, and a wide cell pushes the rest") {
    CHECK(pieces(output_format::table) == std::vector<std::string>{"name    count  note\n------  -----  ----\n",
                                                                   "a           1  x\n", "b,longer      1  x\n"});
}

TEST_CASE("row_stream: CSV and JSON, row by row") {
    CHECK(pieces(output_format::csv) == std::vector<std::string>{"name,count,note\n", "a,1,x\n", "\"b,longer\",1,x\n"});
    CHECK(pieces(output_format::json) ==
          std::vector<std::string>{"{\"name\":\"a\",\"count\":1,\"note\":\"x\"}\n",
                                   "{\"name\":\"b,longer\",\"count\":1,\"note\":\"x\"}\n"});
}
