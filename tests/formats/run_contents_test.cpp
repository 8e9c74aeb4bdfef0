#include <smdebug/formats/run_contents.hpp>

#include <smdebug/core/error.hpp>

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

using namespace smdebug;

TEST_CASE("run_contents: records that lie side by side are one piece, and those of one record one range") {
    run_contents table;
    const std::uint32_t log = table.object("log");
    CHECK(table.object("log") == log);
    CHECK(table.object("other") != log);
    table.add_record({.step = 1}, "a", log, {100, 30});
    table.add_record({.step = 1}, "b", log, {100, 30});
    table.add_record({.step = 1}, "c", log, {130, 20});
    table.add_record({.step = 1}, "d", log, {500, 10});
    const auto added = table.take_new();
    REQUIRE(added.size() == 1);
    const detail::presented_file& file = *added[0];
    CHECK(file.size == 60);
    REQUIRE(file.pieces.size() == 2);
    CHECK(file.pieces[0].size == 50);
    CHECK(file.pieces[1].offset == 500);
    REQUIRE(file.entries.size() == 4);
    CHECK(file.entries[0].record == byte_range{0, 30});
    CHECK(file.entries[1].record == byte_range{0, 30});
    CHECK(file.entries[2].record == byte_range{30, 20});
    CHECK(file.entries[3].record == byte_range{50, 10});
}

TEST_CASE("run_contents: what comes to a step that was taken is another worker's, and another's once that was taken") {
    run_contents table;
    const std::uint32_t log = table.object("log");
    table.add_record({.step = 1, .worker = "w"}, "a", log, {0, 10});
    CHECK(table.take_new().size() == 1);
    CHECK(table.take_new().empty());
    table.add_record({.step = 1, .worker = "w"}, "b", log, {10, 10});
    table.add_record({.step = 1, .worker = "w"}, "c", log, {20, 10});
    const auto second = table.take_new();
    REQUIRE(second.size() == 1);
    CHECK(table.workers()[second[0]->worker] == "w~2");
    CHECK(second[0]->entries.size() == 2);
    table.add_record({.step = 1, .worker = "w"}, "d", log, {30, 10});
    CHECK(table.workers()[table.take_new()[0]->worker] == "w~3");
}

TEST_CASE("run_contents: new files come by step and worker") {
    run_contents table;
    for (const step_number step : {7, 3, 5}) {
        table.add_number({.step = step}, "x", 1);
    }
    std::vector<step_number> steps;
    for (const auto& file : table.take_new()) {
        steps.push_back(file->step);
    }
    CHECK(steps == std::vector<step_number>{3, 5, 7});
}

TEST_CASE("run_contents: elements must be as many as their form says") {
    run_contents table;
    const std::uint32_t object = table.object("weights");
    const std::array<std::size_t, 2> shape{2, 3};
    const std::array<std::size_t, 2> endless{SIZE_MAX, 8};
    const auto add = [&](dtype type, std::span<const std::size_t> extents, std::uint64_t bytes) {
        table.add_elements({.step = 1}, "w", {.type = type, .shape = extents}, object, {0, bytes});
    };
    CHECK_THROWS_WITH_AS(add(dtype::float32, shape, 23),
                         doctest::Contains("tensor w of shape 2x3 and dtype float32 cannot lie in 23 bytes"),
                         value_error);
    CHECK_THROWS_AS(add(dtype::string, shape, 24), value_error);
    CHECK_THROWS_AS(add(dtype::invalid, shape, 0), value_error);
    CHECK_THROWS_AS(add(dtype::float64, endless, 0), value_error);
    CHECK(table.empty());
    CHECK_NOTHROW(add(dtype::float32, shape, 24));
    CHECK(table.steps() == 1);
}

TEST_CASE("run_contents: an event file as it is stands alone") {
    run_contents table;
    const std::uint32_t file = table.object("events/1.tfevents");
    table.add_own_record({.step = 1}, "a", file, {0, 10});
    table.add_own_record({.step = 1}, "b", file, {10, 10});
    CHECK_THROWS_AS(table.add_own_record({.step = 1}, "c", table.object("other"), {0, 10}), value_error);
    CHECK_THROWS_AS(table.add_record({.step = 1}, "c", file, {20, 10}), value_error);
    CHECK_THROWS_AS(table.add_number({.step = 1}, "c", 1), value_error);
    table.add_number({.step = 2}, "c", 1);
    CHECK_THROWS_AS(table.add_own_record({.step = 2}, "a", file, {0, 10}), value_error);
}

TEST_CASE(
    "run_contents: of a place the last problem counts until it is withdrawn, collections keep their names sorted") {
    run_contents table;
    table.note_problem("a", "one");
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
    CHECK(table.job().collections.at("c").tensor_names == std::vector<std::string>{"a", "z"});
}
