// Numbers of steps that are used twice, and runs that are resumed.
#include <smdebug/hook/hook.hpp>

#include "hook/hook_fixture.hpp"

#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/verify.hpp>
#include <smdebug/xtensor.hpp>

namespace smd = smdebug;
using namespace smdebug_test::hooks;
using smd::memory_storage;

TEST_CASE("hook: what a resumed run's collections file says is not forgotten") {
    memory_storage store;
    {
        smd::hook_options options = everything();
        options.save_all = false;
        options.mark_end_of_job = false;
        memory_hook hook{store, options};
        hook.save_tensor("x", one, {"mine"});
        hook.end_step();
        hook.close();
    }
    smd::hook_options options = everything();
    options.existing = smd::existing_run::resume;
    memory_hook hook{store, options};
    hook.save_tensor("y.weight", one);
    hook.end_step();
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.tensor_names({.collection = "mine"}) == std::vector<std::string>{"x"});
}

TEST_CASE("hook: a number that was just written is not used for another mode's step") {
    memory_storage store;
    memory_hook hook{store, everything()};
    hook.set_mode(smd::mode::train);
    hook.set_step(5, 5);
    hook.save_tensor("w", one);
    hook.end_step();
    hook.set_mode(smd::mode::eval);
    CHECK_THROWS_AS(hook.set_step(5, 0), smd::value_error);
    hook.set_step(6, 0);
    hook.save_tensor("accuracy", one);
    hook.end_step();
    hook.close();
    CHECK(smd::basic_trial{store}.tensor_names().size() == 2);
}

TEST_CASE("hook: a mode's step that was written is not written again as another step of the job") {
    memory_storage store;
    memory_hook hook{store, everything()};
    for (const smd::mode which : {smd::mode::global, smd::mode::eval}) {
        hook.set_mode(which);
        const smd::step_number first = hook.step();
        hook.set_step(first, 5);
        hook.save_tensor("w", one);
        hook.end_step();
        CHECK_THROWS_AS(hook.set_step(first + 1, 5), smd::value_error);
        CHECK(hook.step() == first + 1);
    }
    // Nor where counting comes to it.
    hook.set_step(hook.step(), 4);
    hook.save_tensor("w", one);
    hook.end_step();
    CHECK(hook.mode_step() == 5);
    hook.save_tensor("w", one);
    CHECK_THROWS_WITH_AS(hook.end_step(),
                         "SMDebugValueError: EVAL step 5 has already been written, as global step 1: each step of a "
                         "mode is written once, so give this one another number in the mode",
                         smd::value_error);
    CHECK(hook.counters().lost_steps == 1);
    hook.save_tensor("w", one);
    hook.end_step();
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.steps() == std::vector<smd::step_number>{0, 1, 2, 4});
    CHECK(run.steps({.mode = smd::mode::eval}) == std::vector<smd::step_number>{4, 5, 6});
}

TEST_CASE("hook: a training that goes back replaces the mode's steps behind it, whatever their numbers in the job") {
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1} << 20U}) {
        memory_storage store;
        smd::hook_options options = everything();
        options.background.pool_bytes = pool;
        memory_hook hook{store, options};
        const auto step = [&](smd::mode which, float value) {
            hook.set_mode(which);
            hook.save_tensor("w", std::vector<float>{value});
            hook.end_step();
        };
        step(smd::mode::train, 0);
        step(smd::mode::eval, 1);
        step(smd::mode::train, 2);  // TRAIN step 1
        hook.set_mode(smd::mode::train);
        hook.set_step(0, 0);
        step(smd::mode::train, 10);
        step(smd::mode::train, 11);  // TRAIN step 1, where EVAL step 0 was
        hook.close();
        const smd::basic_trial run{store};
        CHECK(run.steps() == std::vector<smd::step_number>{0, 1});
        CHECK(run.tensor("w").value<float>(1, {.mode = smd::mode::train})(0) == 11);
        CHECK(run.steps({.mode = smd::mode::eval}).empty());
        CHECK(store.list("events/", "").size() == 2);
        CHECK(smd::verify_run(store).empty());
    }
}

TEST_CASE("hook: a mode's step that moves to another number takes its files along, also in a run that is resumed") {
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1} << 20U}) {
        memory_storage store;
        smd::hook_options options = everything();
        options.background.pool_bytes = pool;
        options.mark_end_of_job = false;
        options.reduction_config = {.reductions = {"mean"}};
        const auto save = [](memory_hook& hook, smd::step_number global, smd::step_number in_mode, float value) {
            hook.set_mode(smd::mode::train);
            hook.set_step(global, in_mode);
            hook.save_tensor("w", std::vector<float>{value});
            hook.end_step();
        };
        {
            memory_hook hook{store, options};
            save(hook, 5, 5, 5);
            save(hook, 7, 6, 7);
            save(hook, 8, 7, 8);
            save(hook, 6, 6, 6);
            hook.close();
        }
        CHECK(store.list("events/", "").size() == 3);
        CHECK(smd::verify_run(store).empty());
        options.existing = smd::existing_run::resume;
        memory_hook hook{store, options};
        save(hook, 7, 7, 70);
        hook.close();
        CHECK(store.list("events/", "").size() == 3);
        CHECK(store.list("index/", "").size() == 3);
        CHECK(smd::verify_run(store).empty());
        const smd::basic_trial run{store};
        CHECK(run.steps() == std::vector<smd::step_number>{5, 6, 7});
        CHECK(run.tensor("w").reduction_value(7, smd::reduction::mean, {.mode = smd::mode::train}) == 70);
    }
}

TEST_CASE("hook: a step that is written again without tensors leaves no events of the older one") {
    for (const std::size_t pool : {std::size_t{0}, std::size_t{1} << 20U}) {
        memory_storage store;
        smd::hook_options options{.save_config = {.save_interval = 1}};
        for (const bool shapes : {true, false}) {
            const std::string name = shapes ? "shapes" : "values";
            options.include_collections.push_back(name);
            options.collections.push_back(
                {.name = name,
                 .include_regex = {"^" + name},
                 .reduction_config = smd::reduction_config{.save_raw_tensor = !shapes, .save_shape = shapes}});
        }
        options.background.pool_bytes = pool;
        memory_hook hook{store, options};
        const auto save = [&](const char* name) {
            hook.save_tensor(name, one);
            hook.end_step();
        };
        save("values");
        save("values");
        hook.set_step(0);
        save("shapes");
        hook.close();
        CHECK(smd::verify_run(store).empty());
        CHECK(store.list("events/", "").size() == 1);
    }
}

TEST_CASE("hook: a run that is resumed counts on in every mode, also in one that was not seen for long") {
    memory_storage store;
    smd::hook_options options = everything();
    options.mark_end_of_job = false;
    const auto save = [](memory_hook& hook, smd::mode which, int steps) {
        hook.set_mode(which);
        for (int step = 0; step < steps; ++step) {
            hook.save_tensor("w", one);
            hook.end_step();
        }
    };
    {
        memory_hook hook{store, options};
        save(hook, smd::mode::eval, 3);
        save(hook, smd::mode::train, 1100);
        hook.close();
    }
    options.existing = smd::existing_run::resume;
    memory_hook hook{store, options};
    hook.set_mode(smd::mode::train);
    CHECK_THROWS_AS(hook.set_step(1103, 7), smd::value_error);
    CHECK(hook.mode_step() == 1100);
    save(hook, smd::mode::eval, 1);
    hook.close();
    const smd::basic_trial run{store};
    CHECK(run.steps({.mode = smd::mode::eval}) == std::vector<smd::step_number>{0, 1, 2, 3});
}

TEST_CASE("hook: init_step is the first step of every mode, so that the schedule stays the same") {
    memory_storage store;
    smd::hook_options options{.save_config = {.save_interval = 500}, .save_all = true, .init_step = 1234};
    memory_hook hook{store, options};
    for (const smd::mode which : {smd::mode::train, smd::mode::global, smd::mode::eval}) {
        hook.set_mode(which);
        CHECK(hook.mode_step() == 1234);
    }
    hook.set_mode(smd::mode::train);
    while (hook.step() < 1600) {
        hook.save_tensor("w", one);
        hook.end_step();
    }
    hook.close();
    CHECK(smd::basic_trial{store}.steps() == std::vector<smd::step_number>{1500});
}
