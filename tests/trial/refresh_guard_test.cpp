#include <smdebug/trial/refresh_guard.hpp>

#include "support/run_builder.hpp"

#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace smdebug;
using namespace smdebug_test;

namespace {

memory_storage small_run() {
    memory_storage store;
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("a", {1})}});
    return store;
}

}  // namespace

TEST_CASE("refresh_guard: inside no_refresh queries see what is loaded, behind it what is there") {
    memory_storage store = small_run();
    const memory_trial run{store};
    {
        const no_refresh guard{run};
        run_builder{store}.step({.step = 1, .tensors = {tensor_of<float>("b", {1})}});
        CHECK(run.steps() == std::vector<step_number>{0});
        CHECK_FALSE(run.has_tensor("b"));
        {
            const refresh inner{run};
            CHECK(run.steps() == std::vector<step_number>{0, 1});
        }
        CHECK_FALSE(run.dynamic_refresh());
    }
    CHECK(run.dynamic_refresh());
    CHECK(run.has_tensor("b"));
}

TEST_CASE("refresh_guard: several trials, nested, twice the same, and exceptions: all is put back") {
    const memory_trial first{small_run()};
    const memory_trial second{small_run()};
    const no_refresh outer{second};
    try {
        const no_refresh guard{first, second, first};
        CHECK_FALSE(first.dynamic_refresh());
        const refresh inner{second};
        CHECK(second.dynamic_refresh());
        throw std::runtime_error("flies past");
    } catch (const std::runtime_error&) {
        CHECK(first.dynamic_refresh());
        CHECK_FALSE(second.dynamic_refresh());
    }
}

TEST_CASE("refresh_guard: may outlive the trial") {
    auto run = std::make_unique<memory_trial>(small_run());
    const no_refresh guard{*run};
    run.reset();
    CHECK(run == nullptr);
}
