#include <program/rows.hpp>

#include "program/captured.hpp"

#include <program/table.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using cli::detail::output_format;

namespace {

const std::vector<cli::detail::column>& columns() {
    static const std::vector<cli::detail::column> held{{"name"}, {"count", true}, {"mean", true}, {"shape"}};
    return held;
}

void fill(cli::detail::row_buffer& rows) {
    rows.text("a,\"b\"");
    rows.integer(18446744073709551615U);
    rows.number(0.1);
    rows.shape(std::vector<std::size_t>{2, 3});
    rows.end_row();
    rows.text("longer\nname");
    rows.empty();
    rows.number(-std::numeric_limits<double>::infinity());
    rows.shape(std::vector<std::size_t>{});
    rows.end_row();
}

std::string all(output_format format) {
    captured run;
    cli::detail::row_sink sink{run.to, format, columns()};
    cli::detail::row_buffer rows = sink.buffer();
    fill(rows);
    sink.take(rows);
    sink.finish("nothing\n");
    return run.out.str();
}

}  // namespace

TEST_CASE("rows: CSV has a header, quotes as RFC 4180 says, 17 digits, and nothing where there is no value") {
    CHECK(all(output_format::csv) ==
          "name,count,mean,shape\n"
          "\"a,\"\"b\"\"\",18446744073709551615,0.10000000000000001,2x3\n"
          "\"longer\nname\",,-Infinity,\n");
}

TEST_CASE("rows: JSON is one object a line, with null and strings where JSON has no number") {
    CHECK(all(output_format::json) ==
          R"({"name":"a,\"b\"","count":18446744073709551615,"mean":0.10000000000000001,"shape":"2x3"})"
          "\n"
          R"({"name":"longer\nname","count":null,"mean":"-Infinity","shape":""})"
          "\n");
}

TEST_CASE("rows: a table is aligned, cuts nothing, and has no spaces at the ends of lines") {
    CHECK(all(output_format::table) ==
          "name                         count       mean  shape\n"
          "------------  --------------------  ---------  ------\n"
          "a,\"b\"         18446744073709551615        0.1  2x3\n"
          "longer\\nname                     -  -Infinity  scalar\n");
}

TEST_CASE("rows: a table without rows says so; the other formats have their header or nothing") {
    for (const auto& [format, expected] :
         {std::pair{output_format::table, "nothing\n"}, std::pair{output_format::csv, "name,count,mean,shape\n"},
          std::pair{output_format::json, ""}}) {
        captured run;
        cli::detail::row_sink sink{run.to, format, columns()};
        sink.finish("nothing\n");
        CHECK(run.out.str() == expected);
    }
}

TEST_CASE("rows: widths count characters, not bytes") {
    CHECK(cli::detail::width_of("gr\xC3\xBC\xC3\x9F") == 4);
    CHECK(cli::detail::table_text(std::vector<cli::detail::column>{{"a"}, {"b"}},
                                  std::vector<std::string>{"\xC3\xBC\xC3\xBC", "x"}) ==
          "a   b\n--  -\n\xC3\xBC\xC3\xBC  x\n");
}

TEST_CASE("rows: text in JSON is always valid UTF-8") {
    const std::vector<cli::detail::column> one{{"name"}};
    cli::detail::row_buffer rows{output_format::json, one};
    rows.text("\xFF");
    rows.end_row();
    CHECK(rows.text_so_far() == "{\"name\":\"\xEF\xBF\xBD\"}\n");
    rows.clear();
    CHECK(rows.text_so_far().empty());
}

TEST_CASE("rows: CSV has texts exactly, but on a terminal printable; tables and JSON have them printable always") {
    const std::vector<cli::detail::column> one{{"name"}};
    const std::string name{"a\0\x1b[2J\xC2\x9B\n", 9};
    for (const auto& [format, on_terminal, expected] :
         {std::tuple{output_format::csv, false, "\"" + name + "\"\n"},
          std::tuple{output_format::csv, true, std::string{"a\\x00\\x1b[2J\\u009b\\n\n"}},
          std::tuple{output_format::table, true, std::string{"name\n--------------------\na\\x00\\x1b[2J\\u009b\\n\n"}},
          std::tuple{output_format::json, false,
                     std::string{R"({"name":"a\u0000\u001b[2J\u009b\n"})"
                                 "\n"}}}) {
        std::ostringstream out;
        std::ostringstream err;
        cli::detail::console to{out, err, {.out_is_terminal = on_terminal}};
        cli::detail::row_sink sink{to, format, one};
        cli::detail::row_buffer rows = sink.buffer();
        rows.text(name);
        rows.end_row();
        sink.take(rows);
        sink.finish("");
        const std::string head = format == output_format::csv ? "name\n" : "";
        CHECK(squeezed(out.str()) == squeezed(head + expected));
    }
}

TEST_CASE("rows: several texts in one cell: a JSON list, else semicolons") {
    const std::vector<cli::detail::column> one{{"workers"}};
    const std::vector<std::string> names{"a", "b"};
    for (const auto& [format, expected] :
         {std::pair{output_format::csv, "a;b\n\n"},
          std::pair{output_format::json, "{\"workers\":[\"a\",\"b\"]}\n{\"workers\":[]}\n"}}) {
        cli::detail::row_buffer rows{format, one};
        rows.list(names);
        rows.end_row();
        rows.list({});
        rows.end_row();
        CHECK(rows.text_so_far() == expected);
    }
}

TEST_CASE("rows: a cell that is wider than its column pushes the rest") {
    const std::vector<cli::detail::column> two{{"a"}, {"b", true}};
    const std::vector<std::size_t> widths{2, 2};
    CHECK(cli::detail::table_head(two, widths) == "a    b\n--  --\n");
    std::string line;
    cli::detail::append_cell(line, two, widths, 0, "long");
    cli::detail::append_cell(line, two, widths, 1, "x");
    CHECK(line == "long   x\n");
    CHECK(cli::detail::csv_head(two) == "a,b\n");
}
