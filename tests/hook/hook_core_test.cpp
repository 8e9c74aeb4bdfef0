#include <smdebug/hook/hook_core.hpp>

#include "support/allocation_count.hpp"
#include "support/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <smdebug/core/error.hpp>
#include <smdebug/hook/any_clock.hpp>
#include <smdebug/hook/hook.hpp>
#include <smdebug/reduce/any_kernel.hpp>
#include <smdebug/reduce/simd_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug::detail;
using smdebug_test::allocations_of;
using smdebug_test::temporary_folder;

namespace {

const std::array<float, 3> values{1, 2, 3};
const std::array<std::size_t, 1> shape{3};
const tensor_view tensor{
    .type = dtype::float32, .shape = shape, .bytes = std::as_bytes(std::span{values}), .strings = {}};

hook_core core_on(const memory_storage& store, hook_options options) {
    return {any_storage{store}, std::move(options), any_kernel{simd_kernel<>{}}, any_clock{system_wall_clock{}}};
}

hook_options every(std::int64_t interval) { return {.save_config = {.save_interval = interval}, .save_all = true}; }

}  // namespace

TEST_CASE("hook_core: says of each step whether it is due, and takes nothing that is not") {
    memory_storage store;
    hook_core core = core_on(store, every(3));
    for (int step = 0; step < 7; ++step) {
        CAPTURE(step);
        const bool due = step % 3 == 0;
        CHECK(core.now().step == step);
        CHECK(core.should_save("w") == due);
        CHECK(core.take("w", tensor, {}) == due);
        core.end_step();
    }
    core.close();
    CHECK(memory_trial{store}.steps() == std::vector<step_number>{0, 3, 6});
    CHECK(core.counters().steps == 3);
}

TEST_CASE("hook_core: steps are due by the mode they are in, also when it changes within a step") {
    memory_storage store;
    hook_options options = every(1000);
    options.save_config.modes[mode::eval] = {.save_interval = 1};
    hook_core core = core_on(store, options);
    core.end_step();
    CHECK_FALSE(core.should_save("w"));
    core.set_mode(mode::eval);
    CHECK(core.should_save("w"));
    CHECK(core.now().mode_step == 0);
    CHECK(core.take("w", tensor, {}));
    core.set_mode(mode::train);
    CHECK(core.should_save("w"));  // its step 0
    core.set_mode(mode::predict);
    core.set_mode(mode::eval);
    core.end_step();
    CHECK(core.now().mode_step == 1);
    core.set_mode(mode::train);
    CHECK(core.now().mode_step == 0);
    core.set_mode(mode::global);
    CHECK(core.now().mode_step == 2);
    core.close();
    const memory_trial run{store};
    CHECK(run.mode(1) == mode::eval);
    CHECK(run.steps({.mode = mode::eval}) == std::vector<step_number>{0});
}

TEST_CASE("hook_core: a tensor that is put into a collection is due with it from then on") {
    memory_storage store;
    hook_core core = core_on(
        store, {.save_config = {.save_interval = 1},
                .collections = {{.name = "mine", .reduction_config = reduction_config{.reductions = {"max"}}}}});
    const std::array<std::string_view, 1> mine{"mine"};
    CHECK_FALSE(core.should_save("w"));
    CHECK_FALSE(core.take("w", tensor, {}));
    CHECK(core.should_save("w", mine));
    CHECK(core.take("w", tensor, {}));
    core.end_step();
    CHECK(core.take("w", tensor, {}));
    core.close();
    const memory_trial run{store};
    CHECK(run.tensor("w").steps() == std::vector<step_number>{0, 1});
    CHECK(run.tensor("w").reduction_value(1, reduction::max) == 3);
    CHECK_FALSE(run.tensor("w").find_value(1));
}

TEST_CASE("hook_core: a step with tensors keeps its number, its number in the mode may still be set") {
    memory_storage store;
    hook_core core = core_on(store, every(1));
    core.set_step(10, {});
    CHECK(core.now().mode_step == 10);
    core.take("w", tensor, {});
    CHECK_THROWS_AS(core.set_step(11, {}), value_error);
    core.set_mode(mode::train);
    core.set_step(10, 4);
    CHECK(core.now().mode_step == 4);
    core.end_step();
    CHECK(core.now().step == 11);
    CHECK(core.now().mode_step == 5);
    core.close();
    CHECK(memory_trial{store}.steps() == std::vector<step_number>{10});
}

TEST_CASE("hook_core: what was begun is written at the end, and what was not is no step") {
    for (const bool begun : {false, true}) {
        memory_storage store;
        hook_core core = core_on(store, every(1));
        core.take("w", tensor, {});
        core.end_step();
        if (begun) {
            core.take("w", tensor, {});
        }
        core.close();
        CHECK(memory_trial{store}.steps().size() == (begun ? 2 : 1));
        CHECK_THROWS_AS(core.take("w", tensor, {}), unsupported);
        CHECK_THROWS_AS(core.take_scalar("w", tensor), unsupported);
        CHECK_THROWS_AS(core.end_step(), unsupported);
        CHECK_NOTHROW(core.close());
    }
}

// --- memory ---------------------------------------------------------------------------------------------------------

TEST_CASE("hook_core: asking about a step that is not due, or a name that is known, allocates nothing") {
    memory_storage store;
    basic_hook<memory_storage> hook{store, every(2)};
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
                  asked = asked || hook.save_tensor("a name that was never seen before, and is not now", tensor);
              }
          }) == 0);
    CHECK_FALSE(asked);
}

TEST_CASE("hook_core: saving a tensor whose name is known allocates nothing, however large it is") {
    const temporary_folder folder;
    hook_options options = every(1);
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
