#include <smdebug/hook/hook.hpp>

#include "hook/hook_fixture.hpp"
#include "hook/object_store.hpp"
#include "support/scripted_storage.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/xtensor_parts.hpp"

#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/xtensor.hpp>

namespace smd = smdebug;
using namespace smdebug;
using namespace smdebug_test::hooks;

TEST_CASE("basic_hook: what it saves, a trial reads") {
    smd::memory_storage store;
    memory_hook hook{store, everything(2)};
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

TEST_CASE("basic_hook: lists the collections without tensors") {
    memory_hook hook{smd::memory_storage{},
                     {.save_config = {.save_interval = 1}, .include_collections = {"biases", "weights"}}};
    hook.save_tensor("fc.weight", std::vector<float>{1, 2}, {2});
    hook.end_step();
    CHECK(hook.unmatched_collections() == std::vector<std::string>{"biases"});
}

TEST_CASE("basic_hook: everything of the next step is saved, with its values, and of that one alone") {
    smd::memory_storage store;
    memory_hook hook{
        store,
        {.save_config = {.save_interval = 1000}, .reduction_config = smd::reduction_config{.reductions = {"mean"}}}};
    const auto asking = std::make_shared<scripted_observer>();  // at the end of a step, as a rule's callback does
    asking->wants_step = [](const auto&) { return false; };
    asking->ends = [&](const smd::hook_step& step) {
        if (step.step == 3) {
            hook.save_everything_next_step();
        }
    };
    hook.add_observer(asking);
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

TEST_CASE("basic_hook: a call that comes while another thread is in one is refused, and changes nothing") {
    for (const auto policy : {smd::failure_policy::raise, smd::failure_policy::drop}) {
        smd::memory_storage store;
        memory_hook hook{store, {.save_config = {.save_interval = 1}, .save_all = true, .on_failure = policy}};
        const auto interrupting = std::make_shared<scripted_observer>();
        std::string message;
        interrupting->sees = [&](const auto&...) {
            hook.save_everything_next_step();  // on its own thread
            std::thread{[&] {
                try {
                    hook.end_step();
                } catch (const smd::value_error& refused) {
                    message = refused.what();
                }
            }}.join();
        };
        hook.add_observer(interrupting);
        CHECK(hook.save_tensor("w", std::vector<float>{1, 2}));
        CHECK(message.find("two threads use this hook at once") != std::string::npos);
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
        memory_hook hook{store, everything()};
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

TEST_CASE("hook_counters: count steps that were written, what is in them, and the bytes of their files") {
    smd::memory_storage store;
    memory_hook hook{
        store,
        {.save_config = {.save_interval = 2},
         .reduction_config = smd::reduction_config{.reductions = {"mean", "max", "sum"}, .save_shape = true},
         .save_all = true}};
    CHECK(hook.counters().steps + hook.counters().tensors + hook.counters().bytes == 0);
    for (int step = 0; step < 4; ++step) {  // two of them are due
        hook.save_tensor("a", std::vector<float>{1, 2, 3});
        hook.save_tensor("b", std::vector<double>{1, 2, 3});
        hook.end_step();
    }
    CHECK(hook.counters().steps == 2);
    CHECK(hook.counters().tensors == 4);  // not one for each reduction
    hook.save_scalar("x", 1);
    hook.close();
    CHECK(hook.counters().steps == 3);
    CHECK(hook.counters().tensors == 5);
    std::size_t bytes = 0;
    for (const char* folder : {"events/", "index/"}) {
        for (const std::string& key : store.list(folder, "")) {
            bytes += store.size(key).value();
        }
    }
    CHECK(hook.counters().bytes == bytes);
    CHECK(hook.counters().lost_steps == 0);
}

namespace {

struct stopped_clock {
    [[nodiscard]] static std::chrono::duration<double> now() { return std::chrono::duration<double>{7}; }
};

// For all policies; and the common base can be neither created, copied nor destroyed on its own.
template <class Hook>
inline constexpr bool is_one = std::derived_from<Hook, hook_base> && !std::movable<Hook> && !std::copyable<Hook>;
static_assert(is_one<hook> && is_one<basic_hook<>> && is_one<basic_hook<memory_storage, scalar_kernel, stopped_clock>>);
static_assert(!std::destructible<hook_base> && !std::constructible_from<hook_base, const hook_options&>);

// A training loop that is written once.
void train(hook_base& training) {
    for (int step = 0; step < 3; ++step) {
        training.set_mode(step == 1 ? mode::eval : mode::train);
        training.save_tensor("w", std::vector<float>{static_cast<float>(step), 1});
        training.save_scalar("loss", 0.5F);
        training.end_step();
    }
    training.close();
}

void check_run(const trial& run) {
    CHECK(run.steps() == std::vector<step_number>{0, 1, 2});
    CHECK(run.steps({.mode = mode::train}) == std::vector<step_number>{0, 1});
    CHECK(run.tensor("w").value<float>(2)(0) == 2);
    CHECK(run.tensor("scalar/loss").value<float>(1)(0) == 0.5F);
    CHECK(run.loaded_all_steps());
}

}  // namespace

TEST_CASE("hook_base: a function that takes it takes any hook, into any storage") {
    const hook_options options = everything();
    const memory_storage memory;
    basic_hook<memory_storage, scalar_kernel, stopped_clock> typed{memory, options};
    train(typed);
    check_run(trial{memory});

    const smdebug_test::temporary_folder folder;
    hook_options named = options;
    named.out_dir = folder.path();
    hook by_path{named};
    train(by_path);
    check_run(trial{local_storage{folder.path()}});

    const smdebug_test::scripted_storage least;  // neither claims, nor removes, nor appends
    basic_hook<smdebug_test::scripted_storage, scalar_kernel> plain{least, options};
    train(plain);
    check_run(trial{least});

    const memory_storage objects;
    hook erased{smdebug_test::like_s3(objects), options};
    train(erased);
    check_run(trial{objects});
}
