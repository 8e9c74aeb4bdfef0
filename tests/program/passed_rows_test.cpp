#include <program/passed_rows.hpp>

#include <smdebug/reduce/concepts.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace smdebug;
using smdebug::detail::passed_records;

TEST_CASE("passed_rows: notes go into rows and come back, of each file for itself, once") {
    passed_records one;
    const std::string odd{"a\0b\xff", 4};
    one.add({0, odd.size()}, as_bytes(odd));
    one.add({4, 1000}, {.name = "w", .type = dtype::bfloat16, .shape = {3, 40}});
    one.add({1004, 2}, as_bytes(std::string{"xy"}));
    smdebug::detail::passed_tensor scalar{.name = "s" + odd, .type = dtype::float64, .shape = {}};
    scalar.reductions.value[2] = 0.25;
    scalar.reductions.count = 1;
    scalar.reductions.computed = reduction_set::all();
    one.add({2000, 600}, scalar);
    passed_records other;
    other.add({0, 2}, as_bytes(std::string{"ab"}));
    row_spool rows;
    cli::detail::add_notes(rows, "events/1", one);
    cli::detail::add_notes(rows, "events/2", other);
    cli::detail::add_notes(rows, "events/1", one);  // two parts have read it
    const auto notes = cli::detail::notes_of(rows);
    REQUIRE(notes->size() == 2);
    const passed_records& back = *notes->at("events/1");
    CHECK(back.cost() == one.cost());
    CHECK(as_text(back.bytes({0, 4})) == odd);
    CHECK(as_text(back.bytes({1004, 2})) == "xy");
    REQUIRE(back.tensor({4, 1000}, "w") != nullptr);
    CHECK(back.tensor({4, 1000}, "w")->shape == shape_type{3, 40});
    CHECK(back.tensor({4, 1000}, "w")->type == dtype::bfloat16);
    const auto* const same = back.tensor({2000, 600}, "s" + odd);
    REQUIRE(same != nullptr);
    CHECK(same->shape.empty());
    CHECK(same->reductions.value[2] == 0.25);
    CHECK(same->reductions.count == 1);
    CHECK(same->reductions.computed == reduction_set::all());
    CHECK(as_text(notes->at("events/2")->bytes({0, 2})) == "ab");
    row_spool none;
    CHECK(cli::detail::notes_of(none)->empty());
}
