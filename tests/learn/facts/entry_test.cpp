#include <smdebug/learn/facts/entry.hpp>

#include "support/test.hpp"

using namespace smdebug::detail::learn;

namespace {

entry_facts joined_entries(entry_facts a, entry_facts b) {
    a.join(std::move(b));
    return a;
}

using extents = std::vector<std::optional<std::size_t>>;

}  // namespace

TEST_CASE("learned facts: counts add up, a fact that one lacks is dropped") {
    entry_facts a{.runs = 2, .every = {1, 40}, .finite = 10, .constant = 3, .replicas = 0};
    entry_facts b{.runs = 3, .every = {2, 20}, .finite = 5, .changing = 4, .replicas = 7};
    a.changing.reset();
    b.nonnegative.reset();
    const entry_facts both = joined_entries(a, b);
    CHECK(both.runs == 5);
    CHECK(both.every.saves == 2);
    CHECK(both.every.steps == 40);
    CHECK(both.finite == 15U);
    CHECK(both.constant == 3U);
    CHECK(both.replicas == 7U);
    CHECK(both.nonpositive == 0U);
    CHECK_FALSE(both.changing.has_value());
    CHECK_FALSE(both.nonnegative.has_value());
}

TEST_CASE("learned facts: dtypes are united, and more than eight are dropped for good") {
    entry_facts one;
    one.see_dtype("float32");
    one.see_dtype("bfloat16");
    one.see_dtype("float32");
    CHECK(*one.dtypes == std::vector<std::string>{"bfloat16", "float32"});
    entry_facts other;
    for (const char* name : {"bool", "float16", "float64", "int16", "int32", "int8"}) {
        other.see_dtype(name);
    }
    CHECK(joined_entries(one, other).dtypes->size() == 8);
    other.see_dtype("uint8");
    CHECK_FALSE(joined_entries(one, other).dtypes.has_value());
    CHECK_FALSE(joined_entries(joined_entries(one, other), one).dtypes.has_value());
    other.see_dtype("uint16");
    other.see_dtype("uint32");
    CHECK_FALSE(other.dtypes.has_value());
    other.see_dtype("float32");
    CHECK_FALSE(other.dtypes.has_value());
}

TEST_CASE("learned facts: extents that vary, and ranks that differ") {
    entry_facts one;
    CHECK_FALSE(one.shape->extents.has_value());
    one.see_shape({2, 3});
    one.see_shape({2, 3});
    CHECK(*one.shape->extents == extents{2, 3});
    one.see_shape({2, 4});
    CHECK(*one.shape->extents == extents{2, std::nullopt});
    one.see_shape({2, 3});
    CHECK(*one.shape->extents == extents{2, std::nullopt});
    entry_facts unseen;
    CHECK(*joined_entries(one, unseen).shape->extents == extents{2, std::nullopt});
    CHECK(*joined_entries(unseen, one).shape->extents == extents{2, std::nullopt});
    entry_facts other;
    other.see_shape({});
    CHECK(other.shape->extents->empty());
    CHECK_FALSE(joined_entries(one, other).shape.has_value());
    other.see_shape({1});
    CHECK_FALSE(other.shape.has_value());
    other.see_shape({1});
    CHECK_FALSE(other.shape.has_value());
    CHECK_FALSE(joined_entries(unseen, other).shape.has_value());
}

TEST_CASE("learned facts: a number that only one has comes along") {
    entry_facts one;
    entry_facts other;
    one.numbers[number::l2].runs = 2;
    other.numbers[number::l2].runs = 3;
    other.numbers[number::zeros].runs = 1;
    const entry_facts both = joined_entries(one, other);
    CHECK(both.numbers.at(number::l2).runs == 5);
    CHECK(both.numbers.at(number::zeros).runs == 1);
}

TEST_CASE("tied classes: intersections of at least two") {
    const std::vector<tied_class> a{{{"a", "b", "c", "d"}, 10}, {{"x", "y"}, 1}};
    const std::vector<tied_class> b{{{"a", "b", "x"}, 5}, {{"c", "d"}, 7}, {{"y", "z"}, 2}};
    const auto both = joined(a, b);
    REQUIRE(both.size() == 2);
    CHECK(both[0].tensors == std::vector<std::string>{"a", "b"});
    CHECK(both[0].saves == 15);
    CHECK(both[1].tensors == std::vector<std::string>{"c", "d"});
    CHECK(both[1].saves == 17);
    CHECK(joined(b, a).size() == 2);
    CHECK(joined(b, a)[0].saves == 15);
    CHECK(joined(a, {}).empty());
}
