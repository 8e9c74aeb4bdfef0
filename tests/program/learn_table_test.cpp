#include <program/learn_table.hpp>

#include "program/captured.hpp"

#include <smdebug/learn/learn.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace smdebug;
using namespace smdebug_test;

namespace {

learned_facts two_runs() {
    learned_facts all;
    for (int run = 0; run < 2; ++run) {
        memory_storage store;
        run_builder build{store};
        build.collections();
        for (int i = 0; i < 3; ++i) {
            const auto values = std::vector<double>{3.0 + run, 1.0 * i};
            build.step({.step = i, .tensors = {tensor_of<double>("b", values), tensor_of<double>("a", values)}});
        }
        build.end();
        all.join(learn(trial{store, {.name = "run-" + std::to_string(run)}}, {.reductions = "abs_max"}));
    }
    return all;
}

}  // namespace

TEST_CASE("learned table: a line for each tensor and mode, what is equal, and the suspects") {
    const std::string text = squeezed(cli::detail::learned_table(two_runs(), std::nullopt));
    CHECK(contains(text, "a TRAIN 2 1 float64 2 finite:6 nonnegative:2 changing:4 abs_max"));
    CHECK(contains(text, "equal in each of 6 saves: a b\n"));
    CHECK(contains(text, "2 runs; none of 2 runs would raise an alarm if learned from the others\n"));
}

TEST_CASE("learned table: one tensor with its windows") {
    const std::string text = squeezed(cli::detail::learned_table(two_runs(), "b"));
    CHECK(contains(text, "b in TRAIN: in 2 runs, every 1 saves and 1 steps; dtype float64, shape 2; "));
    CHECK(contains(text, "abs_max: margins down 3.2, up 3.2\n"));
    CHECK(contains(text, "0 0 2 3 4 0.714286 16.8\n"));
    CHECK(contains(text, "equal in each of 6 saves: a b\n"));
}
