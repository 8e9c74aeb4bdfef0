// A pool for steps in the background that is full.
#include <smdebug/hook/hook.hpp>

#include "hook/faults_fixture.hpp"
#include "support/faulty_storage.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::faults;
using namespace std::chrono_literals;

TEST_CASE("faults: a full pool drops tensors, counts and reports them, and indexed tensors are whole") {
    const faulty_storage store;
    gate writable;
    hold(store, "append events/", writable);
    std::vector<std::string> told;
    hook_options options = saves_all();
    options.collections.clear();
    options.include_collections.clear();
    options.background = {.pool_bytes = 2U << 20U, .when_full = full_pool::drop};
    options.on_drop = [&](const std::string& what) { told.push_back(what); };
    faulty_hook hook{store, options};
    // Of 0.5 MiB each; three and their names fit into 2 MiB, and some small ones beside them.
    for (int i = 0; i < 10; ++i) {
        hook.save_tensor("large_" + std::to_string(i), std::vector<float>(1U << 17U, static_cast<float>(i)));
    }
    hook.save_tensor("small", std::vector<float>{1, 2, 3});
    hook.end_step();
    CHECK(hook.counters().dropped_tensors == 7);
    CHECK(told.size() == 7);
    CHECK(std::ranges::all_of(told, [](const std::string& what) {
        return what.find("large_") != std::string::npos && what.find("step 0") != std::string::npos;
    }));
    for (int i = 0; i < 3; ++i) {  // the pool is still full
        hook.save_tensor("large_" + std::to_string(i), std::vector<float>(1U << 18U));
    }
    CHECK(hook.counters().dropped_tensors == 10);
    hook.end_step();  // there is nothing in it: no step
    writable.open();
    hook.flush();
    CHECK(hook.save_tensor("large_0", std::vector<float>(1U << 18U, 5.0F)));  // there is room again
    hook.close();
    CHECK(hook.counters().dropped_tensors == 10);
    CHECK(hook.counters().lost_steps == 0);
    CHECK(hook.counters().steps == 2);
    CHECK(hook.counters().tensors == 5);

    const memory_trial run{store.objects()};
    CHECK(run.steps() == std::vector<step_number>{0, 2});
    CHECK(run.tensor_names({.step = 0}) == std::vector<std::string>{"large_0", "large_1", "large_2", "small"});
    for (int i = 0; i < 3; ++i) {
        const auto value = run.tensor("large_" + std::to_string(i)).value(0);
        CHECK(value.size() == 1U << 17U);
        CHECK(std::ranges::all_of(value.elements<float>(), [&](float each) { return each == static_cast<float>(i); }));
    }
    CHECK(run.tensor("small").value<float>(0)(2) == 3);
    CHECK(run.tensor("large_0").value<float>(2)(1) == 5);
}

TEST_CASE("faults: a full pool that waits keeps the training waiting, and loses nothing") {
    const faulty_storage store;
    gate writable;
    hold(store, "append events/", writable);
    faulty_hook hook{store, writes(saves_all(), writing::behind)};
    const std::vector<float> large(5U << 18U, 2.5F);  // 5 MiB, more than the pool has
    std::atomic<bool> saved{false};
    {
        const std::jthread training{[&] {
            hook.save_tensor("large", large);
            saved = true;
            hook.end_step();
        }};
        std::this_thread::sleep_for(50ms);
        CHECK_FALSE(saved);
        writable.open();
    }
    CHECK(saved);
    hook.close();
    CHECK(hook.counters().dropped_tensors == 0);
    const memory_trial run{store.objects()};
    const auto read = run.tensor("large").value(0);
    CHECK(std::ranges::equal(read.elements<float>(), large));
}

TEST_CASE("faults: a tensor larger than a pool that drops is always dropped") {
    memory_storage store;
    hook_options options = saves_all();
    options.background = {.pool_bytes = 1, .when_full = full_pool::drop};
    basic_hook<memory_storage> hook{store, options};
    for (int step = 0; step < 3; ++step) {
        hook.save_tensor("large", std::vector<float>(1U << 20U));
        hook.save_tensor("small", std::vector<float>(10));
        hook.end_step();
        hook.flush();
    }
    hook.close();
    CHECK(hook.counters().dropped_tensors == 3);
    const memory_trial run{store};
    CHECK(run.steps().size() == 3);
    CHECK(run.tensor_names() == std::vector<std::string>{"small"});
}

TEST_CASE("faults: on_drop may abandon the step of a dropped tensor, or end it; the next one is whole") {
    for (const bool ends : {false, true}) {
        const memory_storage store;
        basic_hook<memory_storage>* training = nullptr;
        hook_options options = saves_all();
        options.background = {.pool_bytes = 1, .when_full = full_pool::drop};
        options.on_drop = [&](const std::string&) { ends ? training->end_step() : training->abandon_step(); };
        basic_hook<memory_storage> hook{store, options};
        training = &hook;
        CHECK_FALSE(hook.save_tensor("large", std::vector<float>(1U << 20U)));
        CHECK(hook.step() == 1);
        CHECK(hook.save_tensor("small", std::vector<float>{1, 2, 3}));
        CHECK_FALSE(hook.step_is_lost());
        hook.end_step();
        hook.close();
        const memory_trial run{store};
        CHECK(run.steps() == std::vector<step_number>{1});
        CHECK(run.tensor_names() == std::vector<std::string>{"small"});
    }
}
