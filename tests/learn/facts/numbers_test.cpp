#include <smdebug/learn/facts/numbers.hpp>

#include "support/test.hpp"

using namespace smdebug::detail::learn;

TEST_CASE("learned numbers: names, classes, and the reductions that they are") {
    for (std::size_t i = 0; i < number_count; ++i) {
        const auto which = static_cast<number>(i);
        CHECK(number_named(name_of(which)) == which);
        CHECK((i == 0 || number_names[i - 1] < number_names[i]));
    }
    CHECK_FALSE(number_named("variance").has_value());
    CHECK_FALSE(number_named("").has_value());
    CHECK_FALSE(reduction_of(number::value).has_value());
    CHECK_FALSE(reduction_of(number::zeros).has_value());
    CHECK(reduction_of(number::abs_max) == smdebug::reduction_key{smdebug::reduction::max, true});
    CHECK(reduction_of(number::l2) == smdebug::reduction_key{smdebug::reduction::l2, false});
    for (const number each : {number::l1, number::l2, number::abs_max, number::abs_mean, number::std}) {
        CHECK(class_of(each) == number_class::ratio);
    }
    for (const number each : {number::value, number::mean, number::min, number::max}) {
        CHECK(class_of(each) == number_class::magnitude);
    }
    CHECK(class_of(number::zeros) == number_class::share);
}

TEST_CASE("learned numbers: a set of them") {
    number_set some;
    CHECK_FALSE(some.contains(number::l2));
    some.insert(number::l2);
    some.insert(number::zeros);
    CHECK(some.contains(number::l2));
    CHECK(some.contains(number::zeros));
    CHECK_FALSE(some.contains(number::l1));
    CHECK(some != number_set{});
}

TEST_CASE("learned numbers: the bounds of each class") {
    CHECK(lower_bound(number_class::ratio, {6, 9}, 0.5) == 4);
    CHECK(upper_bound(number_class::ratio, {6, 9}, 0.5) == 13.5);
    CHECK(lower_bound(number_class::share, {0.25, 0.5}, 0.5) == -0.25);
    CHECK(upper_bound(number_class::share, {0.25, 0.5}, 0.5) == 1);
    CHECK(lower_bound(number_class::magnitude, {-4, 2}, 0.5) == -6);
    CHECK(upper_bound(number_class::magnitude, {-4, 2}, 0.5) == 4);
    CHECK(lower_bound(number_class::magnitude, {1, 2}, 0.5) == 0);
}

TEST_CASE("learned numbers: rungs and margins") {
    CHECK(margin_of_rung(0) == 0.05);
    CHECK(margin_of_rung(3) == 0.4);
    CHECK(margin_of_rung(6) == 3.2);
    // The example of the specification: eight runs, 5 * (1 + i / 16).
    CHECK(rung_below(number_class::ratio, {5.3125, 7.1875}, 5) == 1);
    CHECK(rung_above(number_class::ratio, {5, 6.875}, 7.1875) == 0);
    // And two runs with values 1 and 1.25: the bound itself is not below.
    CHECK(rung_below(number_class::magnitude, {1.25, 1.25}, 1) == 2);
    CHECK(rung_above(number_class::magnitude, {1, 1}, 1.25) == 3);
    CHECK(rung_below(number_class::ratio, {1, 1}, 1) == 0);
    CHECK(rung_below(number_class::ratio, {1, 1}, 0) == rung_count);
    CHECK(rung_above(number_class::ratio, {0, 0}, 1e-9) == rung_count);
    CHECK(margin_for(1, 8) == 0.8);
    CHECK(margin_for(0, 8) == 0.4);
    CHECK(margin_for(1, 19) == 0.8);
    CHECK(margin_for(1, 20) == 0.4);
    CHECK(margin_for(3, 8) == 3.2);
    CHECK_FALSE(margin_for(4, 8).has_value());
    CHECK(margin_for(4, 20) == 3.2);
    CHECK_FALSE(margin_for(5, 20).has_value());
    CHECK_FALSE(margin_for(rung_count, 20).has_value());
}
