#include <smdebug/hook/written_steps.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;

TEST_CASE("written_steps: maps a mode's step to the job's step, whatever the order of writing") {
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

TEST_CASE("written_steps: a training of weeks takes a row for each time that the mode changes") {
    written_steps steps;
    step_number global = 0;
    for (step_number epoch = 0; epoch < 20; ++epoch) {
        for (step_number i = 0; i < 1000; ++i, global += 10) {
            steps.add(mode::train, epoch * 10'000 + i * 10, global);
        }
        for (step_number i = 0; i < 50; ++i, ++global) {
            steps.add(mode::eval, epoch * 50 + i, global);
        }
    }
    CHECK(steps.row_count() == 40);
    CHECK(steps.last(mode::train) == 199'990);
    CHECK(steps.last(mode::eval) == 999);
    CHECK(steps.global_of(mode::train, 10'000) == 10'050);
    CHECK_FALSE(steps.global_of(mode::train, 10'005));
}

TEST_CASE("written_steps: steps may be as far as numbers go") {
    constexpr step_number most = std::numeric_limits<step_number>::max();
    written_steps steps;
    steps.add(mode::train, 0, 0);
    steps.add(mode::train, most - 1, 1);
    steps.add(mode::train, most, 2);
    CHECK(steps.global_of(mode::train, most - 1) == 1);
    CHECK(steps.last(mode::train) == most);
}

TEST_CASE("written_steps: rows are what a map of all steps is, in whatever order steps are written and forgotten") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](step_number limit) {
            return static_cast<step_number>(random() % static_cast<unsigned>(limit));
        };
        written_steps steps;
        std::array<std::map<step_number, step_number>, all_modes.size()> wanted;  // global by the mode's number
        const auto forget = [&](step_number global) {
            for (auto& of_mode : wanted) {
                std::erase_if(of_mode, [&](const auto& one) { return one.second == global; });
            }
        };
        const step_number stride = 1 + below(4);
        for (step_number i = 0; i < 60; ++i) {
            const mode which = all_modes[static_cast<std::size_t>(below(2))];
            const bool follows = below(3) > 0;
            const step_number in_mode = follows ? i * stride : below(120);
            const step_number global = follows ? i * stride * 2 : below(240);
            if (below(8) == 0) {
                forget(global);
                steps.forget(global);
            } else {
                forget(global);
                wanted[place_of(which)][in_mode] = global;
                steps.add(which, in_mode, global);
            }
            if (i % 7 != 0) {
                continue;
            }
            for (const mode each : all_modes) {
                const auto& of_mode = wanted[place_of(each)];
                CAPTURE(seed);
                CAPTURE(i);
                REQUIRE(steps.last(each) == (of_mode.empty() ? std::nullopt : std::optional{of_mode.rbegin()->first}));
                for (step_number number = -1; number < 250; ++number) {
                    const auto found = of_mode.find(number);
                    REQUIRE(steps.global_of(each, number) ==
                            (found == of_mode.end() ? std::nullopt : std::optional{found->second}));
                }
            }
        }
    }
}
