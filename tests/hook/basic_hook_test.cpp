#include <smdebug/hook/hook.hpp>

#include <doctest/doctest.h>

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <cstddef>
#include <string>
#include <thread>
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

TEST_CASE("basic_hook: lists the collections without tensors") {
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

namespace {

// Lets another thread call the hook while this one is in a call, and calls it back itself.
struct interrupting final : smd::hook_observer {
    explicit interrupting(smd::basic_hook<smd::memory_storage>& called) : hook(&called) {}
    bool wants(const smd::hook_step& /*step*/) override { return true; }
    bool wants(std::string_view /*tensor*/) override { return true; }
    void see(std::string_view /*name*/, const smd::tensor_view& /*tensor*/,
             std::span<const std::string_view> /*collections*/) override {
        hook->save_everything_next_step();
        std::thread{[this] {
            try {
                hook->end_step();
            } catch (const smd::value_error& refused) {
                message = refused.what();
            }
        }}.join();
    }
    void end_step(const smd::hook_step& /*step*/) override {}
    smd::basic_hook<smd::memory_storage>* hook;
    std::string message;
};

}  // namespace

TEST_CASE("basic_hook: a call that comes while another thread is in one is refused, and changes nothing") {
    for (const auto policy : {smd::failure_policy::raise, smd::failure_policy::drop}) {
        smd::memory_storage store;
        smd::basic_hook<smd::memory_storage> hook{
            store, {.save_config = {.save_interval = 1}, .save_all = true, .on_failure = policy}};
        const auto other = std::make_shared<interrupting>(hook);
        hook.add_observer(other);
        CHECK(hook.save_tensor("w", std::vector<float>{1, 2}));
        CHECK(other->message.find("two threads use this hook at once") != std::string::npos);
        CHECK(hook.step() == 0);
        hook.end_step();
        CHECK(hook.save_tensor("w", std::vector<float>{3, 4}));
        hook.end_step();
        hook.close();
        const smd::basic_trial trial{store};
        CHECK(trial.tensor("w").value<float>(0)(1) == 2);
        CHECK(trial.tensor("w").value<float>(1)(0) == 3);
    }
}

TEST_CASE("basic_hook: whatever threads that use it at once saved is in the run") {
    for (const std::size_t count : {2U, 8U}) {
        CAPTURE(count);
        smd::memory_storage store;
        smd::basic_hook<smd::memory_storage> hook{store, {.save_config = {.save_interval = 1}, .save_all = true}};
        std::vector<std::vector<std::string>> saved(count);
        std::vector<std::thread> threads;
        for (std::size_t thread = 0; thread < count; ++thread) {
            threads.emplace_back([&, thread] {
                const std::vector<float> values(64, static_cast<float>(thread));
                for (int i = 0; i < 200; ++i) {
                    const std::string name = "t" + std::to_string(thread) + "_" + std::to_string(i);
                    try {
                        if (hook.save_tensor(name, values)) {
                            saved[thread].push_back(name);
                        }
                    } catch (const smd::value_error&) {
                        std::this_thread::yield();  // another thread is in a call
                    }
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        CHECK(hook.save_tensor("last", std::vector<float>{1}));
        hook.end_step();
        hook.close();
        const smd::basic_trial trial{store};
        std::size_t all = 1;
        for (std::size_t thread = 0; thread < count; ++thread) {
            all += saved[thread].size();
            for (const std::string& name : saved[thread]) {
                CHECK(trial.tensor(name).value<float>(0)(63) == static_cast<float>(thread));
            }
        }
        CHECK(trial.tensor_names().size() == all);
    }
}
