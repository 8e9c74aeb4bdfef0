#include <program/defaults_lines.hpp>

#include <program/console.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;

namespace {

std::vector<cli::detail::default_line> lines(std::string_view text) {
    return cli::detail::defaults_text{text, "a.toml"}.lines();
}

std::string refusal(std::string_view text) {
    try {
        static_cast<void>(lines(text));
    } catch (const cli::detail::usage_error& wrong) {
        return wrong.what();
    }
    return {};
}

using texts = std::vector<std::string>;

}  // namespace

TEST_CASE("defaults_text: sections, comments, and values in each way of writing") {
    const auto found = lines(
        "# first\n\n"
        "endpoint-url = \"http://localhost:9000\"  # behind a value\n"
        "scan.threads=4\r\n"
        "[ stats ]  # behind a section\n"
        "\ttensors = \"a#b\\\\.\\\"c\\\"\"\n"
        "  step-regex = 'x\\.(\\d+)'\n"
        "skip-damaged = true\n"
        "[scan]\n"
        "rule = ['a,b=1', \"c\",  # one\n"
        "        d,\n"
        "]\n"
        "none = []");
    REQUIRE(found.size() == 7);
    CHECK(found[0].command.empty());
    CHECK(found[0].option == "endpoint-url");
    CHECK(found[0].values == texts{"http://localhost:9000"});
    CHECK(found[0].number == 3);
    CHECK(found[1].command == "scan");
    CHECK(found[1].option == "threads");
    CHECK(found[1].values == texts{"4"});
    CHECK(found[2].command == "stats");
    CHECK(found[2].values == texts{"a#b\\.\"c\""});
    CHECK(found[3].values == texts{"x\\.(\\d+)"});
    CHECK(found[4].values == texts{"true"});
    CHECK(found[5].command == "scan");
    CHECK(found[5].values == texts{"a,b=1", "c", "d"});
    CHECK(found[5].number == 10);
    CHECK(found[6].values.empty());
    CHECK(found[6].number == 13);
    CHECK(lines("").empty());
    CHECK(lines(" \n# nothing").empty());
}

TEST_CASE("defaults_text: an invalid line is reported with its number") {
    const auto tells = [](std::string_view text, const std::string& what) {
        CAPTURE(text);
        CHECK(refusal(text).find("a.toml, line " + what) != std::string::npos);
    };
    tells("\nformat \"csv\"\n", "2: \"format \"csv\"\" is no line");
    tells("format\n", "1: \"format\" is no line");
    tells("= 4", "1: \"= 4\" is no line");
    tells("a.b.c = 4", "1: \"a.b.c = 4\" is no line");
    tells("[scan\nthreads = 4\n", "1: a section");
    tells("[scan] threads = 4\n", "1: \"threads = 4\" is too much");
    tells("[[scan]]\n", "1: a section");
    tells("threads = 4 5\n", "1: \"5\" is too much");
    tells("threads =\nformat = 'csv'\n", "1: a value is missing");
    tells("format = \"csv\nx", "1: a text has no end");
    tells("format = 'csv", "1: a text has no end");
    tells("format = \"c\\qv\"", "1: behind \\");
    tells("rule = [\"a\"\n\"b\"]", "2: between values");
    tells("rule = [\"a\",", "1: a value is missing");
    tells("[ls]\nformat = 1\n[ls]\nformat = 2\n", "4: format has a default already, in line 2");
}
