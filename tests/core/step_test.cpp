#include <smdebug/core/step.hpp>

#include "support/test.hpp"

using smdebug::mode;
using smdebug::mode_named;
using smdebug::step_number;
using smdebug::step_range;
using smdebug::step_state;

TEST_CASE("mode: values and names are those of the Python package's ModeKeys") {
    CHECK(static_cast<int>(mode::train) == 1);
    CHECK(static_cast<int>(mode::eval) == 2);
    CHECK(static_cast<int>(mode::predict) == 3);
    CHECK(static_cast<int>(mode::global) == 4);
    CHECK(name_of(mode::train) == "TRAIN");
    CHECK(name_of(mode::eval) == "EVAL");
    CHECK(name_of(mode::predict) == "PREDICT");
    CHECK(name_of(mode::global) == "GLOBAL");
    CHECK(name_of(static_cast<mode>(9)) == "?");
}

TEST_CASE("mode_named: knows exactly the names that name_of writes") {
    for (const mode which : {mode::train, mode::eval, mode::predict, mode::global}) {
        CHECK(mode_named(name_of(which)) == which);
    }
    CHECK_FALSE(mode_named("train"));
    CHECK_FALSE(mode_named("TRAIN "));
    CHECK_FALSE(mode_named(""));
    CHECK_FALSE(mode_named("?"));
}

TEST_CASE("step_state: names are those of the Python package's StepState") {
    CHECK(name_of(step_state::unavailable) == "UNAVAILABLE");
    CHECK(name_of(step_state::available) == "AVAILABLE");
    CHECK(name_of(step_state::not_yet_available) == "NOT_YET_AVAILABLE");
    CHECK(name_of(static_cast<step_state>(9)) == "?");
}

TEST_CASE("step_range: holds its begin and not its end") {
    constexpr step_range range{100, 200};
    CHECK_FALSE(range.contains(99));
    CHECK(range.contains(100));
    CHECK(range.contains(199));
    CHECK_FALSE(range.contains(200));
}

TEST_CASE("step_range: an empty bound is open") {
    constexpr auto most = std::numeric_limits<step_number>::max();
    CHECK(step_range{}.contains(0));
    CHECK(step_range{}.contains(most));
    CHECK(step_range{5, {}}.contains(most));
    CHECK_FALSE(step_range{5, {}}.contains(4));
    CHECK(step_range{{}, 5}.contains(0));
    CHECK_FALSE(step_range{{}, 5}.contains(5));
}

TEST_CASE("step_range: is valid when no bound is negative and begin comes before end") {
    static_assert(step_range{}.valid());
    static_assert(step_range{0, 1}.valid());
    static_assert(step_range{0, {}}.valid());
    static_assert(step_range{{}, 0}.valid());
    static_assert(!step_range{1, 1}.valid());
    static_assert(!step_range{2, 1}.valid());
    static_assert(!step_range{-1, 1}.valid());
    static_assert(!step_range{-1, {}}.valid());
    static_assert(!step_range{{}, -1}.valid());
    CHECK(step_range{3, 4}.valid());
}
