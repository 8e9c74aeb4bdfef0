#include <smdebug/trial/trial.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

memory_storage small_run() {
    memory_storage store;
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("a", {1})}});
    return store;
}

// Near misses: a type without refreshing, one that ignores the end of a setting, and a list of something else.
struct stateless {};
struct endless {
    void set_refresh(bool) const {}
};
static_assert(refreshable_trial<memory_trial> && refreshable_trial<trial>);
static_assert(!refreshable_trial<stateless> && !refreshable_trial<endless> && !refreshable_trial<int>);
static_assert(refreshable_trials<std::vector<memory_trial>> && !refreshable_trials<std::vector<int>>);
static_assert(!std::constructible_from<no_refresh, stateless> && !std::copyable<no_refresh>);

}  // namespace

TEST_CASE("refresh_guard: inside no_refresh queries see what is loaded, afterwards everything") {
    memory_storage store = small_run();
    const memory_trial run{store};
    {
        const no_refresh guard{run};
        run_builder{store}.step({.step = 1, .tensors = {tensor_of<float>("b", {1})}});
        CHECK(run.steps() == std::vector<step_number>{0});
        CHECK_FALSE(run.has_tensor("b"));
        {
            const with_refresh inner{run};
            CHECK(run.steps() == std::vector<step_number>{0, 1});
        }
        CHECK_FALSE(run.dynamic_refresh());
    }
    CHECK(run.dynamic_refresh());
    CHECK(run.has_tensor("b"));
}

TEST_CASE("refresh_guard: several trials, nested guards, repeated guards, and exceptions: everything is restored") {
    const memory_trial first{small_run()};
    const memory_trial second{small_run()};
    const no_refresh outer{second};
    try {
        const no_refresh guard{first, second, first};
        CHECK_FALSE(first.dynamic_refresh());
        const with_refresh inner{second};
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

TEST_CASE("refresh_guard: guards end in any order, on any thread; the newest one alive decides") {
    const memory_trial run{small_run()};
    auto first = std::make_unique<no_refresh>(run);
    auto second = std::make_unique<no_refresh>(run);
    first.reset();
    CHECK_FALSE(run.dynamic_refresh());
    second.reset();
    CHECK(run.dynamic_refresh());
    auto off = std::make_unique<no_refresh>(run);
    const with_refresh on{run};
    off.reset();
    CHECK(run.dynamic_refresh());

    std::vector<std::jthread> threads;
    const memory_trial shared{small_run()};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int round = 0; round < 1000; ++round) {
                const no_refresh guard{shared};
            }
        });
    }
    threads.clear();
    CHECK(shared.dynamic_refresh());
}

TEST_CASE("refresh_guard: takes a list of trials") {
    const std::vector<memory_trial> runs{memory_trial{small_run()}, memory_trial{small_run()}};
    {
        const no_refresh guard{runs};
        CHECK_FALSE(runs[0].dynamic_refresh());
        CHECK_FALSE(runs[1].dynamic_refresh());
    }
    CHECK(runs[1].dynamic_refresh());
}
