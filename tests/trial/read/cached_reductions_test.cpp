#include <smdebug/trial/read/event_source.hpp>

#include <smdebug/core/bytes.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("cached_reductions: a record is found by its place, its length, and its tensor's name") {
    cached_reductions notes;
    CHECK(notes.cost() == 0);
    const std::string first = "first record";
    const std::string second = "second";
    notes.add({0, first.size()}, as_bytes(first));
    notes.add({12, 1000}, {.name = "w", .type = dtype::float32, .shape = {3, 4}});
    notes.add({1012, second.size()}, as_bytes(second));
    notes.add({2000, 500}, {.name = "v", .type = dtype::int8, .shape = {}});
    CHECK(as_text(notes.bytes({0, 12})) == first);
    CHECK(as_text(notes.bytes({1012, 6})) == second);
    CHECK(notes.bytes({0, 11}).empty());
    CHECK(notes.bytes({1, 12}).empty());
    CHECK(notes.bytes({12, 1000}).empty());
    CHECK(notes.bytes({5000, 1}).empty());
    REQUIRE(notes.tensor({12, 1000}, "w") != nullptr);
    CHECK(notes.tensor({12, 1000}, "w")->shape == shape_type{3, 4});
    REQUIRE(notes.tensor({2000, 500}, "v") != nullptr);
    CHECK(notes.tensor({2000, 500}, "v")->type == dtype::int8);
    CHECK(notes.tensor({12, 1000}, "v") == nullptr);
    CHECK(notes.tensor({12, 1001}, "w") == nullptr);
    CHECK(notes.tensor({0, 12}, "") == nullptr);
    CHECK(notes.tensor({9000, 1}, "w") == nullptr);
    CHECK(notes.cost() > first.size() + second.size() + 2 * sizeof(reduction_values));
}
