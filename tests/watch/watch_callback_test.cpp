// What callbacks do: they throw, stop the watcher, save, and are kept as long as the hook.
#include <smdebug/watch/watch.hpp>

#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>

#include "watch/watch_fixture.hpp"

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test::watches;

TEST_CASE("watch: what a rule or the callback throws comes out of end_step, which has counted on") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
    steps_list second;
    const auto watching = watch(
        hook,
        [](const watched_finding& found) {
            if (found.step == 1) {
                throw std::runtime_error("enough");
            }
        },
        [](const readable_trial auto&, step_number step) -> finding {
            if (step == 3) {
                throw std::logic_error("my mistake");
            }
            return {.met = step == 1};
        },
        [&](const readable_trial auto&, step_number step) -> finding {
            second.push_back(step);
            return {};
        });
    for (step_number step = 0; step < 5; ++step) {
        CHECK(hook.step() == step);
        hook.save_tensor("w", std::vector<float>{1});
        if (step == 1) {
            CHECK_THROWS_WITH_AS(hook.end_step(), "enough", std::runtime_error);
        } else if (step == 3) {
            CHECK_THROWS_WITH_AS(hook.end_step(), "my mistake", std::logic_error);
        } else {
            hook.end_step();
        }
    }
    hook.close();
    CHECK(second == steps_list{0, 2, 4});
    CHECK(watching->counters().steps == 5);
    CHECK(watching->counters().evaluated == 7);
    CHECK(run_in_memory{store}.steps() == steps_list{0, 1, 2, 3, 4});
    CHECK(hook.counters().steps == 5);
}

TEST_CASE("watch: stop() ends it, from the callback, too") {
    memory_hook hook{{}, nothing_on_disk()};
    auto witness = std::make_shared<int>(0);
    std::weak_ptr<watcher> handle;
    const auto watching = watch(
        hook,
        [&](const watched_finding&) {
            ++*witness;
            handle.lock()->stop();
        },
        [](const readable_trial auto&, step_number) -> std::vector<finding> {
            return {{.met = true}, {.met = true}};
        },
        mean_of_w);
    handle = watching;
    for (int step = 0; step < 3; ++step) {
        CHECK(hook.should_save("w") == (step == 0));
        hook.save_tensor("w", std::vector<float>{1});
        hook.end_step();
    }
    CHECK(*witness == 1);
    CHECK(watching->is_stopped());
    CHECK(watching->counters().steps == 1);
    CHECK(watching->counters().evaluated == 1);
}

TEST_CASE("watch: the callback may save into the step that has begun") {
    memory_storage store;
    memory_hook hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
    std::vector<noted> found;
    watch(
        hook,
        [&](const watched_finding& one) {
            hook.save_scalar("found_at", static_cast<float>(one.step));
            hook.save_tensor("extra", std::vector<float>{1});
        },
        mean_of_w);
    watch(hook, into(found), [](const readable_trial auto& run, step_number step) -> finding {
        return {.met = run.tensor_names({.step = step}) == names_list{"extra", "scalar/found_at", "w"}};
    });
    for (int step = 0; step < 3; ++step) {
        hook.save_tensor("w", std::vector<float>{1});
        hook.end_step();
    }
    hook.close();
    CHECK(steps_of(found) == steps_list{1, 2});
    CHECK(run_in_memory{store}.tensor("scalar/found_at").steps() == steps_list{1, 2, 3});
}

TEST_CASE("watch: the hook holds it, the handle may be dropped; options are checked at once") {
    auto witness = std::make_shared<int>(0);
    {
        memory_hook hook{{}, nothing_on_disk()};
        watch(
            hook, [witness](const watched_finding&) { ++*witness; }, mean_of_w);
        CHECK(witness.use_count() == 2);
        hook.save_tensor("w", std::vector<float>{1});
        hook.end_step();
        CHECK_THROWS_AS(watch(
                            hook, {.keep_steps = 0}, [](const watched_finding&) {}, mean_of_w),
                        value_error);
    }
    CHECK(*witness == 1);
    CHECK(witness.use_count() == 1);
}

TEST_CASE("watch: rules and callback need not be copyable") {
    memory_hook hook{{}, nothing_on_disk()};
    double found = 0;
    watch(
        hook, [&, mine = std::make_unique<int>(2)](const watched_finding& one) { found = one.what.value + *mine; },
        [mine = std::make_unique<int>(3)](const readable_trial auto& run, step_number step) -> finding {
            return {.met = true, .value = run.tensor("w").reduction_value(step, reduction::mean) + *mine};
        });
    hook.save_tensor("w", std::vector<float>{1});
    hook.end_step();
    CHECK(found == 6);
}
