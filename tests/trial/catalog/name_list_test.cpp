#include <smdebug/trial/catalog/layout.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

static_assert(parse_recorded_name("smdebug/reductions/abs_mean/dense/kernel:0").tensor == "dense/kernel:0");
static_assert(parse_recorded_name("smdebug/reductions/abs_mean/x").reduction == reduction_key{reduction::mean, true});
static_assert(parse_recorded_name("smdebug/reductions/l2/x").reduction == reduction_key{reduction::l2, false});
static_assert(!parse_recorded_name("loss").reduction);
// A name that only looks like a reduction is a tensor: nothing is lost.
static_assert(parse_recorded_name("smdebug/reductions/median/x").tensor == "smdebug/reductions/median/x");
static_assert(parse_recorded_name("smdebug/reductions/min").tensor == "smdebug/reductions/min");
static_assert(parse_recorded_name("scope/smdebug/reductions/min/x").tensor == "scope/smdebug/reductions/min/x");

static_assert(sizeof(recorded_item) == 8, "what a list is made of");

namespace {

constexpr std::uint8_t max_kind = kind_of(reduction_key{reduction::max, false});
constexpr std::uint8_t min_kind = kind_of(reduction_key{reduction::min, false});

// Texts whose order differs from their numbers'.
const std::vector<std::string> texts{"z", "y", "b", "a", "x"};

name_list sample() {
    return name_list{{{.name = 0},
                      {.name = 2, .kind = max_kind},
                      {.name = 2, .kind = min_kind},
                      {.name = 0},
                      {.name = 3, .kind = max_kind},
                      {.name = 3}},
                     {4, 3, 4},
                     [](std::vector<name_id>& ids) {
                         std::sort(ids.begin(), ids.end(), [](name_id a, name_id b) { return texts[a] < texts[b]; });
                     }};
}

}  // namespace

TEST_CASE("name_list: its tensors come once each, sorted by name") {
    const name_list held = sample();
    CHECK(std::vector<name_id>(held.tensors().begin(), held.tensors().end()) == std::vector<name_id>{3, 2, 4, 0});
    CHECK(std::vector<name_id>(held.shapes().begin(), held.shapes().end()) == std::vector<name_id>{3, 4});
    CHECK(held.items().size() == 6);
}

TEST_CASE("name_list: finds items by name and kind, the last of equal ones") {
    const name_list held = sample();
    CHECK(held.find(0, 0) == 3);
    CHECK(held.find(2, max_kind) == 1);
    CHECK(held.find(3, 0) == 5);
    CHECK_FALSE(held.find(2, 0).has_value());
    CHECK_FALSE(held.find(4, 0).has_value());
    CHECK(held.contains(4));
    CHECK_FALSE(held.contains(1));
}

TEST_CASE("name_list: a walk visits a tensor at its last values, else at its first reduction in their order") {
    const name_list held = sample();
    std::vector<bool> leads;
    for (std::size_t i = 0; i < held.items().size(); ++i) {
        leads.push_back(held.is_visited_at(i));
    }
    CHECK(leads == std::vector<bool>{false, false, true, true, false, true});
}

TEST_CASE("name_list: is equal to what has the same items in the same order, and the same shapes") {
    const name_list held = sample();
    std::vector<recorded_item> items{held.items().begin(), held.items().end()};
    const std::vector<name_id> shapes{3, 4};
    CHECK(held.equals(items, shapes));
    CHECK_FALSE(held.equals(items, std::vector<name_id>{3}));
    std::swap(items[0], items[1]);
    CHECK_FALSE(held.equals(items, shapes));
    CHECK_FALSE(held.equals({}, {}));
    CHECK(held.memory() >= 6 * 12);
}

TEST_CASE("name_list: if every name comes once, with values, a walk visits a tensor at each item") {
    const auto sort_by_text = [](std::vector<name_id>& ids) {
        std::sort(ids.begin(), ids.end(), [](name_id a, name_id b) { return texts[a] < texts[b]; });
    };
    const name_list plain{{{.name = 2}, {.name = 0}}, {0, 4}, sort_by_text};
    CHECK(plain.values_alone());
    CHECK(plain.is_visited_at(0));
    CHECK(plain.is_visited_at(1));
    const name_list twice{{{.name = 2}, {.name = 2}}, {4}, sort_by_text};
    CHECK(twice.values_alone());
    CHECK_FALSE(twice.is_visited_at(0));
    CHECK(twice.is_visited_at(1));
    CHECK_FALSE(sample().values_alone());
}
