#include <smdebug/hook/written_steps.hpp>

#include "support/test.hpp"

namespace smd = smdebug;

TEST_CASE("step_counter: every mode counts its own steps, GLOBAL those of the job") {
    smd::detail::step_counter steps;
    CHECK(steps.now().mode == smd::mode::global);
    CHECK(steps.set_mode(smd::mode::train));
    CHECK_FALSE(steps.set_mode(smd::mode::train));
    steps.advance();
    steps.advance();
    CHECK(steps.now().step == 2);
    CHECK(steps.now().mode_step == 2);
    steps.set_mode(smd::mode::eval);
    CHECK(steps.now().mode_step == 0);
    steps.advance();
    CHECK(steps.now().mode_step == 1);
    steps.set_mode(smd::mode::train);
    CHECK(steps.now().step == 3);
    CHECK(steps.now().mode_step == 2);
    steps.set_mode(smd::mode::global);
    CHECK(steps.now().mode_step == 3);
    steps.advance();
    CHECK(steps.now().mode_step == 4);
    steps.set_mode(smd::mode::eval);
    CHECK(steps.now().mode_step == 1);
}

TEST_CASE("step_counter: continues at the end of a run, or at the given step") {
    smd::detail::step_counter steps{100, {{smd::mode::train, 90}, {smd::mode::eval, 10}, {smd::mode::global, 5}}};
    CHECK(steps.now().step == 100);
    CHECK(steps.now().mode_step == 100);
    steps.set_mode(smd::mode::train);
    CHECK(steps.now().mode_step == 90);
    steps.set_step(500, 400);
    steps.set_mode(smd::mode::eval);
    CHECK(steps.now().step == 500);
    CHECK(steps.now().mode_step == 10);
    steps.set_step(501, {});
    CHECK(steps.now().mode_step == 10);
    steps.set_mode(smd::mode::train);
    CHECK(steps.now().mode_step == 400);
    steps.set_mode(smd::mode::global);
    steps.set_step(7, {});
    CHECK(steps.now().mode_step == 7);
    steps.set_step(13, 3);
    CHECK(steps.now().mode_step == 3);
    steps.advance();
    CHECK(steps.now().mode_step == 14);
}

TEST_CASE("step_counter: refuses numbers that no step has, and keeps its own") {
    smd::detail::step_counter steps;
    CHECK_THROWS_AS(steps.set_step(-1, {}), smd::value_error);
    CHECK_THROWS_AS(steps.set_step(1, -1), smd::value_error);
    CHECK_THROWS_AS(steps.set_step(smd::largest_step + 1, {}), smd::value_error);
    CHECK(steps.now().step == 0);
    steps.set_step(smd::largest_step, {});
    CHECK(steps.now().step == smd::largest_step);
}
