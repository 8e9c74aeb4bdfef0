#include <smdebug/trial/layout.hpp>

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace smdebug;

static_assert(sizeof(layout::entry) == 24, "what a catalog is made of");
static_assert(parse_recorded_name("smdebug/reductions/abs_mean/dense/kernel:0").tensor == "dense/kernel:0");
static_assert(parse_recorded_name("smdebug/reductions/abs_mean/x").reduction == reduction_key{reduction::mean, true});
static_assert(parse_recorded_name("smdebug/reductions/l2/x").reduction == reduction_key{reduction::l2, false});
static_assert(!parse_recorded_name("loss").reduction);
static_assert(parse_recorded_name("scope/smdebug/reductions/min/x").tensor == "x");
// What only looks like a reduction is a tensor: nothing is lost.
static_assert(parse_recorded_name("smdebug/reductions/median/x").tensor == "smdebug/reductions/median/x");
static_assert(parse_recorded_name("smdebug/reductions/min").tensor == "smdebug/reductions/min");

namespace {

constexpr auto kind_of_reduction(reduction what, bool abs = false) {
    return static_cast<std::uint8_t>(1 + reduction_key{what, abs}.index());
}

layout sample() {
    return layout{{{.offset = 0, .length = 10, .name = 7},
                   {.offset = 10, .length = 5, .name = 2, .kind = kind_of_reduction(reduction::max)},
                   {.offset = 15, .length = 5, .name = 2, .kind = kind_of_reduction(reduction::mean, true)},
                   {.offset = 20, .length = 9, .name = 7},
                   {.offset = 29, .length = 1, .name = 3}},
                  {{.name = 9, .original_name = 1, .extents = {2, 3}},
                   {.name = 3, .original_name = 1, .extents = {4}},
                   {.name = 9, .original_name = 1, .extents = {5}}}};
}

}  // namespace

TEST_CASE("layout: finds values, reductions and shapes by name, and keeps the file's order") {
    const layout held = sample();
    CHECK(held.entries()[0].offset == 0);
    CHECK(held.entries()[4].offset == 29);
    CHECK(held.values(3)->offset == 29);
    CHECK(held.values(2) == nullptr);
    CHECK(held.reduction(2, {reduction::max, false})->offset == 10);
    CHECK(held.reduction(2, {reduction::mean, true})->offset == 15);
    CHECK(held.reduction(2, {reduction::mean, false}) == nullptr);
    CHECK(held.saved_reductions(2) == (reduction_set{reduction::max} | reduction_set{reduction::mean, true}));
    CHECK(held.saved_reductions(7).empty());
    CHECK(held.shape(3)->extents == shape_type{4});
    CHECK(held.shape(7) == nullptr);
}

TEST_CASE("layout: of two entries of one name the last counts") {
    const layout held = sample();
    CHECK(held.values(7)->offset == 20);
    CHECK(held.shape(9)->extents == shape_type{5});
}

TEST_CASE("layout: contains what has values, reductions or only a shape") {
    const layout held = sample();
    for (const name_id there : {2U, 3U, 7U, 9U}) {
        CHECK(held.contains(there));
    }
    for (const name_id missing : {0U, 1U, 4U, 8U, 10U, 4'000'000'000U}) {
        CHECK_FALSE(held.contains(missing));
    }
    std::set<name_id> names;
    held.for_each_name([&](name_id name) { names.insert(name); });
    CHECK(names == std::set<name_id>{2, 3, 7, 9});
    CHECK_FALSE(layout{}.contains(0));
    CHECK(layout{}.empty());
    CHECK_FALSE(held.empty());
}

TEST_CASE("layout: equality is of entries and shapes") {
    CHECK(sample().equals(sample()));
    CHECK_FALSE(sample().equals(layout{}));
    CHECK(sample().memory() >= 5 * 28);
}
