#include <smdebug/trial/run_contents.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;

namespace {

[[nodiscard]] std::vector<detail::found_entry> entries_of(const run_contents& table, std::size_t run) {
    std::vector<detail::found_entry> all;
    smdebug::detail::contents_access::each_entry(table, run,
                                                 [&](const detail::found_entry& each) { all.push_back(each); });
    return all;
}

}  // namespace

TEST_CASE("run_contents: consecutive entries of one object and step form one run") {
    run_contents table;
    const std::uint32_t log = table.object("log");
    CHECK(table.object("log") == log);
    CHECK(table.object("other") != log);
    table.add_record({.step = 1}, "a", log, {100, 30});
    table.add_record({.step = 1}, "b", log, {130, 20});
    table.add_record({.step = 1, .worker = "w"}, "b", log, {150, 20});
    table.add_record({.step = 1}, "c", table.object("other"), {500, 10});
    table.add_number({.step = 2, .wall_time = 7}, "a", 2.5, dtype::float32, log);
    REQUIRE(smdebug::detail::contents_access::stretches(table).size() == 4);
    CHECK(smdebug::detail::contents_access::workers(
              table)[smdebug::detail::contents_access::stretches(table)[1].worker] == "w");
    CHECK(table.key_of(smdebug::detail::contents_access::stretches(table)[2].object) == "other");
    REQUIRE(entries_of(table, 0).size() == 2);
    CHECK(entries_of(table, 0)[1].place == byte_range{130, 20});
    REQUIRE(entries_of(table, 3).size() == 1);
    CHECK(entries_of(table, 3)[0].name == entries_of(table, 0)[0].name);
    CHECK(entries_of(table, 3)[0].number.value == 2.5);
    CHECK(entries_of(table, 3)[0].number.wall_time == 7);
    table.add_number_beside(table.name("b"), 3.5, 8, dtype::float64);
    REQUIRE(smdebug::detail::contents_access::stretches(table).size() == 4);
    REQUIRE(entries_of(table, 3).size() == 2);
    CHECK(entries_of(table, 3)[1].name == table.name("b"));
    CHECK(entries_of(table, 3)[1].number.value == 3.5);
    CHECK(entries_of(table, 3)[1].number.wall_time == 8);
    CHECK(smdebug::detail::contents_access::form(table, entries_of(table, 3)[1].form).type == dtype::float64);
    CHECK(smdebug::detail::contents_access::entry_count(table) == 6);
    smdebug::detail::contents_access::forget_found(table);
    CHECK(smdebug::detail::contents_access::stretches(table).empty());
    CHECK(smdebug::detail::contents_access::names(table).size() == 3);  // numbers stay
}

TEST_CASE("run_contents: equal forms are stored once, at a fixed address") {
    run_contents table;
    const std::uint32_t object = table.object("weights");
    const std::array<std::size_t, 2> shape{2, 3};
    const auto add = [&](dtype type, std::span<const std::size_t> extents, std::uint64_t bytes) {
        table.add_elements({.step = 1}, "w", {.type = type, .shape = extents}, object, {0, bytes});
        return entries_of(table, 0).back().form;
    };
    const std::uint32_t first = add(dtype::float32, shape, 24);
    const detail::stored_form* const place = &smdebug::detail::contents_access::form(table, first);
    const std::uint32_t second = add(dtype::float64, shape, 48);
    CHECK(second != first);
    for (int i = 0; i < 3; ++i) {
        CHECK(add(dtype::float32, shape, 24) == first);
        CHECK(add(dtype::float64, shape, 48) == second);
    }
    CHECK(&smdebug::detail::contents_access::form(table, first) == place);
    CHECK(smdebug::detail::contents_access::forms(table)->size() == 2);
}

TEST_CASE("run_contents: the number of elements must match their form") {
    run_contents table;
    const std::uint32_t object = table.object("weights");
    const std::array<std::size_t, 2> shape{2, 3};
    const std::array<std::size_t, 2> endless{SIZE_MAX, 8};
    const auto add = [&](dtype type, std::span<const std::size_t> extents, std::uint64_t bytes) {
        table.add_elements({.step = 1}, "w", {.type = type, .shape = extents}, object, {0, bytes});
    };
    CHECK_THROWS_WITH_AS(add(dtype::float32, shape, 23),
                         doctest::Contains("tensor w of shape 2x3 and dtype float32 has 24 bytes, not 23"),
                         value_error);
    CHECK_THROWS_AS(add(dtype::string, shape, 24), value_error);
    CHECK_THROWS_AS(add(dtype::invalid, shape, 0), value_error);
    CHECK_THROWS_AS(add(dtype::float64, endless, 0), value_error);
    CHECK(smdebug::detail::contents_access::stretches(table).empty());
    CHECK_NOTHROW(add(dtype::float32, shape, 24));
    CHECK(smdebug::detail::contents_access::stretches(table).size() == 1);
}

TEST_CASE("run_contents: numbers are float64 or float32") {
    run_contents table;
    const std::uint32_t log = table.object("log");
    const std::uint32_t name = table.name("n");
    for (const dtype other : {dtype::float16, dtype::int8, dtype::boolean, dtype::complex128, dtype::string,
                              dtype::int64, dtype::invalid}) {
        const auto refused = doctest::Contains("float64 or float32");
        CHECK_THROWS_WITH_AS(table.add_number({.step = 1}, "n", 2.5, other), refused, value_error);
        CHECK_THROWS_WITH_AS(table.add_number({.step = 1}, name, 2.5, other, log), refused, value_error);
        CHECK_THROWS_WITH_AS(table.add_number_beside(name, 2.5, 0, other), refused, value_error);
    }
    CHECK(smdebug::detail::contents_access::stretches(table).empty());
    CHECK(smdebug::detail::contents_access::entry_count(table) == 0);
    table.add_number({.step = 1}, "n", 2.5);
    table.add_number_beside(name, 2.5, 0, dtype::float32);
    CHECK(entries_of(table, 0).size() == 2);
}

TEST_CASE("run_contents: a number stands beside another addition, and has a name that name() returned") {
    run_contents table;
    const std::uint32_t name = table.name("n");
    CHECK_THROWS_WITH_AS(table.add_number_beside(name, 2.5, 0, dtype::float64), doctest::Contains("add_number()"),
                         value_error);
    CHECK_THROWS_WITH_AS(table.add_number({.step = 1}, name + 1, 2.5, dtype::float64, table.object("log")),
                         doctest::Contains("name()"), value_error);
    CHECK_THROWS_WITH_AS(table.add_number({.step = 1}, name, 2.5, dtype::float64, table.object("log") + 1),
                         doctest::Contains("object()"), value_error);
    CHECK_THROWS_WITH_AS(table.add_record({.step = 1}, "a", 7, {0, 10}), doctest::Contains("object()"), value_error);
    CHECK(smdebug::detail::contents_access::entry_count(table) == 0);
}

TEST_CASE("run_contents: elements that are made need a function, and are as in memory") {
    run_contents table;
    const std::array<std::size_t, 1> shape{1};
    const auto add = [&](const run_contents::tensor_form& form, run_contents::maker make) {
        table.add_made({.step = 1}, "m", form, std::move(make));
    };
    const auto make = [] { return std::vector<std::byte>(4); };
    CHECK_THROWS_AS(add({.type = dtype::float32, .shape = shape}, {}), value_error);
    CHECK_THROWS_AS(add({.type = dtype::float32, .shape = shape, .big_endian = true}, make), value_error);
    CHECK_THROWS_AS(add({.type = dtype::float32, .shape = shape, .column_major = true}, make), value_error);
    CHECK(smdebug::detail::contents_access::stretches(table).empty());
    CHECK_NOTHROW(add({.type = dtype::float32, .shape = shape}, make));
}

TEST_CASE(
    "run_contents: of a place the last problem counts until it is withdrawn, collections keep their names sorted") {
    run_contents table;
    CHECK_FALSE(table.has_found());
    table.note_problem("a", "one");
    CHECK(table.has_found());
    table.note_problem("b", "two");
    table.note_problem("a", "one again");
    table.note_problem("c", "three", problem_kind::left_out);
    table.withdraw_problem("b");
    table.withdraw_problem("none");
    CHECK(table.problems() ==
          std::vector<problem>{{problem_kind::damaged, "a", "one again"}, {problem_kind::left_out, "c", "three"}});
    table.add_to_collection("c", "z");
    table.add_to_collection("c", "a");
    table.add_to_collection("c", "z");
    CHECK(table.collections().at("c").tensor_names == std::vector<std::string>{"a", "z"});
}
