#include <smdebug/formats/presented_index.hpp>

#include <doctest/doctest.h>

#include <array>

using namespace smdebug;

TEST_CASE("index_text_of: as the Python package writes it") {
    run_contents table;
    const std::uint32_t file = table.object("events/000000000003/000000000003_w.tfevents");
    const run_contents::place where{.step = 3, .mode = mode::eval, .mode_step = 1, .worker = "w"};
    const std::array<std::size_t, 2> shape{2, 3};
    table.add_own_record(where, "a \"quoted\"", file, {0, 25});
    table.add_shape(where, "b", shape);
    const auto added = table.take_new();
    REQUIRE(added.size() == 1);
    CHECK(detail::index_key_of(table, *added[0]) == "index/000000000/000000000003_w.json");
    CHECK(detail::event_key_of(table, *added[0]) == "events/000000000003/000000000003_w.tfevents");
    CHECK(
        detail::index_text_of(table, *added[0]) ==
        R"({"meta": {"mode": "EVAL", "mode_step": 1, "event_file_name": "events/000000000003/000000000003_w.tfevents"}, )"
        R"("tensor_payload": [{"tensorname": "a \"quoted\"", "start_idx": 0, "length": 25}], )"
        R"("shape_payload": [{"tensorname": "b", "originalname": "b", "shape": [2, 3]}]})");
}
