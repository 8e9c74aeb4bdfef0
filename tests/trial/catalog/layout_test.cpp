#include <smdebug/trial/catalog/layout.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

namespace {

constexpr auto kind_of_reduction(reduction what, bool abs = false) {
    return static_cast<std::uint8_t>(1 + reduction_key{what, abs}.index());
}

std::shared_ptr<const name_list> sample_names() {
    return std::make_shared<const name_list>(
        std::vector<recorded_item>{{.name = 7},
                                   {.name = 2, .kind = kind_of_reduction(reduction::max)},
                                   {.name = 2, .kind = kind_of_reduction(reduction::mean, true)},
                                   {.name = 7},
                                   {.name = 3}},
        std::vector<name_id>{9, 3}, [](std::vector<name_id>& ids) { std::sort(ids.begin(), ids.end()); });
}

layout sample(std::shared_ptr<const name_list> names = sample_names()) {
    return layout{std::move(names),
                  {{0, 10}, {10, 5}, {15, 5}, {20, 9}, {29, 1}},
                  {{.name = 3, .original_name = 1, .extents = {4}},
                   {.name = 9, .original_name = 1, .extents = {2, 3}},
                   {.name = 9, .original_name = 1, .extents = {5}}}};
}

[[nodiscard]] std::optional<layout::entry> found(const layout& held, name_id name,
                                                 std::optional<reduction_key> reduction = {}) {
    const auto place = held.names().find(name, kind_of(reduction));
    return place ? std::optional{held[*place]} : std::nullopt;
}

}  // namespace

TEST_CASE("layout: finds values, reductions and shapes by name, and keeps the file's order") {
    const layout held = sample();
    CHECK(held[0].record.offset == 0);
    CHECK(held[4].record.offset == 29);
    CHECK(found(held, 3)->record.offset == 29);
    CHECK(!held.has_values(2));
    CHECK(found(held, 2, reduction_key{reduction::max, false})->record.offset == 10);
    CHECK(found(held, 2, reduction_key{reduction::mean, true})->record.offset == 15);
    CHECK(!found(held, 2, reduction_key{reduction::mean, false}).has_value());
    CHECK(held.saved_reductions(2) == (reduction_set{reduction::max} | reduction_set{reduction::mean, true}));
    CHECK(held.saved_reductions(7).empty());
    CHECK(held.shape(3)->extents == shape_type{4});
    CHECK(held.shape(7) == nullptr);
}

TEST_CASE("layout: of two entries with one name the last counts") {
    const layout held = sample();
    CHECK(found(held, 7)->record.offset == 20);
    CHECK(held.shape(9)->extents == shape_type{5});
}

TEST_CASE("layout: contains tensors with values, reductions or only a shape") {
    const layout held = sample();
    for (const name_id there : {2U, 3U, 7U, 9U}) {
        CHECK(held.contains(there));
    }
    for (const name_id missing : {0U, 1U, 4U, 8U, 10U, 4'000'000'000U}) {
        CHECK_FALSE(held.contains(missing));
    }
    CHECK_FALSE(layout{}.contains(0));
    CHECK(layout{}.empty());
    CHECK_FALSE(held.empty());
}

TEST_CASE("layout: equality is of names, places, shapes and forms") {
    const auto names = sample_names();
    const layout held = sample(names);
    const std::vector<byte_range> places{{0, 10}, {10, 5}, {15, 5}, {20, 9}, {29, 1}};
    const std::vector<byte_range> others{{0, 10}, {10, 5}, {15, 5}, {20, 9}, {29, 2}};
    CHECK(held.equals(names, places, held.shapes(), nullptr));
    CHECK_FALSE(held.equals(sample_names(), places, held.shapes(), nullptr));
    CHECK_FALSE(held.equals(names, others, held.shapes(), nullptr));
    CHECK_FALSE(held.equals(names, places, {}, nullptr));
    const std::vector<stored_form> forms(5);
    std::vector<const stored_form*> of_item;
    for (const stored_form& each : forms) {
        of_item.push_back(&each);
    }
    CHECK_FALSE(held.equals(names, places, held.shapes(), std::make_shared<const form_list>(nullptr, of_item)));
    CHECK(held.memory() >= 5 * 16);
}
