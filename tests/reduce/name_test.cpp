#include <smdebug/reduce/name.hpp>

#include "support/test.hpp"

using smdebug::append_reduction_tensor_name;
using smdebug::reduction;
using smdebug::reduction_count;
using smdebug::reduction_key;
using smdebug::reduction_key_named;
using smdebug::reduction_named;
using smdebug::reduction_set;
using smdebug::reduction_tensor_name;

static_assert(reduction_named("std") == reduction::std);
static_assert(!reduction_named("abs_std"));
static_assert(reduction_key_named("abs_l2") == reduction_key{reduction::l2, true});
static_assert(!reduction_key_named(""));
static_assert(!reduction_key_named("abs_"));
static_assert(!reduction_key_named("abs_abs_min"));
static_assert(!reduction_key_named("Min"));
static_assert(!reduction_key_named("min "));
static_assert(reduction_set{}.empty());
static_assert((reduction_set::plain() & reduction_set::absolute()).empty());
static_assert((reduction_set::plain() | reduction_set::absolute() | reduction_set::counts()) == reduction_set::all());

TEST_CASE("reduction names: the nine, in the order of the Python package") {
    std::string all;
    for (std::size_t i = 0; i < reduction_count; ++i) {
        all += std::string{smdebug::name_of(static_cast<reduction>(i))} + ' ';
        CHECK(reduction_named(smdebug::name_of(static_cast<reduction>(i))) == static_cast<reduction>(i));
    }
    CHECK(all == "min max mean std variance sum prod l1 l2 ");
}

TEST_CASE("reduction_key: eighteen places, each with a name of its own that leads back") {
    std::set<std::string> names;
    for (std::size_t i = 0; i < 2 * reduction_count; ++i) {
        const auto key = reduction_key::from_index(i);
        CHECK(key.index() == i);
        CHECK(reduction_key_named(key.name()) == key);
        names.insert(key.name());
    }
    CHECK(names.size() == 18);
    CHECK(reduction_key{reduction::mean, true}.name() == "abs_mean");
}

TEST_CASE("reduction_set: holds what was put in and nothing else") {
    const reduction_set set = reduction_set{reduction::mean} | reduction_set{reduction::l2, true};
    CHECK(set.contains({reduction::mean, false}));
    CHECK_FALSE(set.contains({reduction::mean, true}));
    CHECK(set.contains({reduction::l2, true}));
    CHECK_FALSE(set.has_counts());
    CHECK_FALSE(set.empty());
    CHECK(std::popcount(set.mask) == 2);
    CHECK(reduction_set::counts().has_counts());
    CHECK(std::popcount(reduction_set::all().mask) == 19);
}

TEST_CASE("reduction names: a reduction's tensor is named as readers take it apart") {
    CHECK(reduction_tensor_name("dense/kernel:0", {reduction::mean, true}) ==
          "smdebug/reductions/abs_mean/dense/kernel:0");
    CHECK(reduction_tensor_name("w", {reduction::l2, false}) == "smdebug/reductions/l2/w");
    std::string name = "kept/";
    append_reduction_tensor_name(name, "w", {reduction::min, false});
    CHECK(name == "kept/smdebug/reductions/min/w");
}
