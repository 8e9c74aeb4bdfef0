#include <smdebug/hook/hook_state.hpp>

#include "hook/hook_fixture.hpp"
#include "support/allocation_count.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace smdebug_test::hooks;

namespace {

const std::vector<float> values{1, 2, 3};

}  // namespace

TEST_CASE("hook_state: steps are due by the mode they are in, also when it changes within a step") {
    memory_storage store;
    hook_options options = everything(1000);
    options.save_config.modes[mode::eval] = {.save_interval = 1};
    memory_hook hook{store, options};
    hook.end_step();
    CHECK_FALSE(hook.should_save("w"));
    hook.set_mode(mode::eval);
    CHECK(hook.should_save("w"));
    CHECK(hook.mode_step() == 0);
    CHECK(hook.save_tensor("w", values));
    hook.set_mode(mode::train);
    CHECK(hook.should_save("w"));  // its step 0
    hook.set_mode(mode::predict);
    hook.set_mode(mode::eval);
    hook.end_step();
    CHECK(hook.mode_step() == 1);
    hook.set_mode(mode::train);
    CHECK(hook.mode_step() == 0);
    hook.set_mode(mode::global);
    CHECK(hook.mode_step() == 2);
    hook.close();
    const memory_trial run{store};
    CHECK(run.mode(1) == mode::eval);
    CHECK(run.steps({.mode = mode::eval}) == std::vector<step_number>{0});
}

TEST_CASE("hook_state: a tensor that is put into a collection is due with it from then on") {
    memory_storage store;
    memory_hook hook{store,
                     {.save_config = {.save_interval = 2},
                      .collections = {{.name = "mine", .reduction_config = reduction_config{.reductions = {"max"}}}}}};
    CHECK_FALSE(hook.should_save("w"));
    CHECK_FALSE(hook.save_tensor("w", values));
    CHECK(hook.should_save("w", {"mine"}));
    CHECK(hook.save_tensor("w", values, {"mine"}));
    hook.end_step();
    CHECK_FALSE(hook.should_save("w", {"mine"}));
    hook.end_step();
    CHECK(hook.save_tensor("w", values));
    hook.close();
    CHECK_FALSE(hook.should_save("w"));
    const memory_trial run{store};
    CHECK(run.tensor("w").steps() == std::vector<step_number>{0, 2});
    CHECK(run.tensor("w").reduction_value(2, reduction::max) == 3);
    CHECK_FALSE(run.tensor("w").find_value(2));
}

TEST_CASE("hook_state: a step with tensors keeps its number, its number in the mode may still be set") {
    memory_storage store;
    memory_hook hook{store, everything(1)};
    hook.set_step(10, {});
    CHECK(hook.mode_step() == 10);
    hook.save_tensor("w", values);
    CHECK_THROWS_AS(hook.set_step(11, {}), value_error);
    hook.set_mode(mode::train);
    hook.set_step(10, 4);
    CHECK(hook.mode_step() == 4);
    hook.end_step();
    CHECK(hook.step() == 11);
    CHECK(hook.mode_step() == 5);
    hook.close();
    CHECK(memory_trial{store}.steps() == std::vector<step_number>{10});
}

// --- memory ---------------------------------------------------------------------------------------------------------

TEST_CASE("hook_state: asking about a step that is not due, or a name that is known, allocates nothing") {
    memory_storage store;
    memory_hook hook{store, everything(2)};
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) {
        names.push_back("layer/" + std::to_string(i) + "/a name too long to lie within a string object");
    }
    for (const std::string& name : names) {
        CHECK(hook.should_save(name));
    }
    std::size_t due = 0;
    CHECK(allocations_of([&] {
              for (const std::string& name : names) {
                  due += hook.should_save(name) ? 1U : 0U;
              }
          }) == 0);
    CHECK(due == 20);
    hook.end_step();
    bool asked = hook.should_save("loss");
    CHECK(allocations_of([&] {
              for (int step = 0; step < 100; ++step) {
                  for (const std::string& name : names) {
                      asked = hook.should_save(name);
                  }
                  asked = asked || hook.save_tensor("a name that was never seen before, and is not now", values);
              }
          }) == 0);
    CHECK_FALSE(asked);
}

TEST_CASE("hook_state: saving a tensor whose name is known allocates nothing, however large it is") {
    const temporary_folder folder;
    hook_options options = everything(1);
    options.out_dir = folder.path();
    options.collections = {
        {.name = "summaries",
         .include_regex = {"sum"},
         .reduction_config = reduction_config{.reductions = {"mean", "l2_norm"}, .save_shape = true}}};
    options.include_collections = {"summaries"};
    hook training{options};
    const std::vector<float> large(200'000, 1.5F);
    std::vector<std::string> names;
    for (int i = 0; i < 20; ++i) {
        names.push_back((i % 4 == 0 ? "sum/" : "layer/") + std::to_string(i));
    }
    for (int step = 0; step < 25; ++step) {
        // The first one opens the step's file: what is allocated for it are names.
        const std::size_t opening = allocations_of([&] {
            training.save_tensor(names[0], large, {std::size_t{200}, std::size_t{1000}});
        });
        const std::size_t saving = allocations_of([&] {
            for (std::size_t i = 1; i < names.size(); ++i) {
                training.save_tensor(names[i], std::span{large}.first(i % 5 == 0 ? large.size() : 10 + i));
            }
        });
        const std::size_t scalar = allocations_of([&] { training.save_scalar("loss", 1.0F); });
        const std::size_t ending = allocations_of([&] { training.end_step(); });
        if (step >= 20) {  // once warm; at 10 the steps' numbers have become longer
            CAPTURE(step);
            CHECK(opening <= 14);
            CHECK(saving == 0);
            CHECK(scalar <= 1);
            CHECK(ending <= 12);
        }
        if (step == 24) {
            MESSAGE("opening: ", opening, ", 19 tensors: ", saving, ", a scalar: ", scalar, ", ending: ", ending);
        }
    }
}
