#include <smdebug/hook/written_steps.hpp>

#include <doctest/doctest.h>

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("written_steps: tells as which step of the job one of a mode was written, in whatever order they came") {
    written_steps steps;
    CHECK_FALSE(steps.last(mode::train));
    CHECK_FALSE(steps.global_of(mode::train, 0));
    steps.add(mode::train, 0, 0);
    steps.add(mode::eval, 0, 1);
    steps.add(mode::train, 9, 20);
    steps.add(mode::train, 4, 21);
    CHECK(steps.global_of(mode::train, 0) == 0);
    CHECK(steps.global_of(mode::train, 4) == 21);
    CHECK(steps.global_of(mode::train, 9) == 20);
    CHECK(steps.global_of(mode::eval, 0) == 1);
    CHECK_FALSE(steps.global_of(mode::eval, 9));
    CHECK_FALSE(steps.global_of(mode::train, 5));
    CHECK(steps.last(mode::train) == 9);
    CHECK(steps.last(mode::eval) == 0);
    CHECK_FALSE(steps.last(mode::predict));
}

TEST_CASE("written_steps: a step of the job is one of one mode, the one that was written last") {
    written_steps steps;
    for (step_number step = 0; step < 10; ++step) {
        steps.add(mode::train, step, step);
    }
    steps.add(mode::eval, 0, 5);
    CHECK_FALSE(steps.global_of(mode::train, 5));
    CHECK(steps.global_of(mode::eval, 0) == 5);
    steps.add(mode::train, 5, 6);
    CHECK(steps.global_of(mode::train, 5) == 6);
    CHECK_FALSE(steps.global_of(mode::train, 6));
    steps.forget(9);
    CHECK(steps.last(mode::train) == 8);
    steps.forget(100);
    CHECK(steps.last(mode::train) == 8);
}
