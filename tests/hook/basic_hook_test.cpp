#include <smdebug/hook/basic_hook.hpp>

#include <doctest/doctest.h>

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <vector>

#include "../support/xtensor_parts.hpp"

namespace smd = smdebug;

TEST_CASE("basic_hook: what it saves, a trial reads") {
    smd::memory_storage store;
    smd::basic_hook<smd::memory_storage> hook{store, {.save_config = {.save_interval = 2}, .save_all = true}};
    const std::vector<float> weights{1, 2, 3, 4, 5, 6};
    for (int step = 0; step < 5; ++step) {
        hook.set_mode(smd::mode::train);
        CHECK(hook.should_save("w") == (step % 2 == 0));
        CHECK(hook.save_tensor("w", weights, {2, 3}) == (step % 2 == 0));
        CHECK(hook.save_tensor("x", xt::xarray<double>{{1.0, 2.0}, {3.0, 4.0}} * 2.0) == (step % 2 == 0));
        if (step % 2 == 0) {
            hook.save_scalar("lr", 0.5);
        }
        hook.end_step();
    }
    hook.close();
    const smd::basic_trial trial{store};
    CHECK(trial.steps() == std::vector<smd::step_number>{0, 2, 4});
    CHECK(trial.tensor("w").value<float>(2)(1, 2) == 6);
    CHECK(trial.tensor("x").value<double>(2)(1, 1) == 8);
    CHECK(trial.tensor("scalar/lr").value<double>(4)(0) == 0.5);
    CHECK(trial.loaded_all_steps());
}

namespace {

// Asks for everything at the end of one step, as a rule's callback does.
struct asking final : smd::hook_observer {
    explicit asking(smd::basic_hook<smd::memory_storage>& asked) : hook(&asked) {}
    bool wants(const smd::hook_step& /*step*/) override { return false; }
    bool wants(std::string_view /*tensor*/) override { return false; }
    void see(std::string_view /*name*/, const smd::tensor_view& /*tensor*/,
             std::span<const std::string_view> /*collections*/) override {}
    void end_step(const smd::hook_step& step) override {
        if (step.step == 3) {
            hook->save_everything_next_step();
        }
    }
    smd::basic_hook<smd::memory_storage>* hook;
};

}  // namespace

TEST_CASE("basic_hook: tells which collections took nothing") {
    smd::basic_hook<smd::memory_storage> hook{
        smd::memory_storage{}, {.save_config = {.save_interval = 1}, .include_collections = {"biases", "weights"}}};
    hook.save_tensor("fc.weight", std::vector<float>{1, 2}, {2});
    hook.end_step();
    CHECK(hook.unmatched_collections() == std::vector<std::string>{"biases"});
}

TEST_CASE("basic_hook: everything of the next step is saved, with its values, and of that one alone") {
    smd::memory_storage store;
    smd::basic_hook<smd::memory_storage> hook{
        store,
        {.save_config = {.save_interval = 1000}, .reduction_config = smd::reduction_config{.reductions = {"mean"}}}};
    hook.add_observer(std::make_shared<asking>(hook));
    const std::vector<float> values{1, 2};
    for (int step = 0; step < 10; ++step) {
        if (step == 7) {
            hook.save_everything_next_step();  // of which nothing was seen yet: this one
        }
        CHECK(hook.should_save("anything") == (step == 4 || step == 7 || step == 9));
        hook.save_tensor("anything", values);
        if (step == 8) {
            hook.save_everything_next_step();
        }
        hook.end_step();
    }
    hook.close();
    const smd::basic_trial trial{store};
    CHECK(trial.steps() == std::vector<smd::step_number>{4, 7, 9});
    CHECK(trial.tensor("anything").value<float>(4)(1) == 2);
}
