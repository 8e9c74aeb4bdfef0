#include <program/command_table.hpp>

#include "program/small_table.hpp"

#include <doctest/doctest.h>

using namespace smdebug::cli::detail;

TEST_CASE("command_table: commands are found by their whole names") {
    const command_table table = smdebug_test::small_table();
    REQUIRE(table.find("look") != nullptr);
    CHECK(table.find("look")->arguments.size() == 2);
    CHECK(table.find("loo") == nullptr);
    CHECK(table.find("") == nullptr);
    CHECK(table.find("prog-x") == nullptr);
}

TEST_CASE("command_table: the name of a value decides how it is completed") {
    static_assert(kind_of_value("FILE") == value_kind::path);
    static_assert(kind_of_value("FILE.db") == value_kind::path);
    static_assert(kind_of_value("RUN") == value_kind::path);
    static_assert(kind_of_value("DIR") == value_kind::folder);
    static_assert(kind_of_value("COMMAND") == value_kind::program);
    static_assert(kind_of_value("REGEX") == value_kind::text);
    static_assert(kind_of_value("FILES") == value_kind::text);
    static_assert(kind_of_value("") == value_kind::text);
}

TEST_CASE("command_table: exit statuses are parsed from the sentence that lists them") {
    const auto statuses =
        exit_statuses_in("Results.\nExit status: 0 fine, and all; 1 error;\n   12 both 3 and 1.\nMore; 5 no.");
    REQUIRE(statuses.size() == 3);
    CHECK(statuses[0].number == "0");
    CHECK(statuses[0].meaning == "fine, and all");
    CHECK(statuses[1].meaning == "error");
    CHECK(statuses[2].number == "12");
    CHECK(statuses[2].meaning == "both 3 and 1");
    CHECK(exit_statuses_in("nothing of the kind").empty());
    CHECK(exit_statuses_in("Exit status: ").empty());
    CHECK(exit_statuses_in("Exit status: none; 7").empty());
}
