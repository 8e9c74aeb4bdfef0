// Wrong arguments, and the end of a run after a fault or an exception.
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

TEST_CASE("faults: a wrong argument costs nothing but itself, whatever the policy") {
    for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
        memory_storage store;
        hook_options options = saves_all();
        options.on_failure = policy;
        basic_hook<memory_storage> hook{store, options};
        const std::vector<float> values{1, 2, 3};
        hook.save_tensor("before", values);
        CHECK_THROWS_AS(hook.save_tensor("w", values, {2, 2}), value_error);
        CHECK_THROWS_AS(hook.save_tensor("", values), value_error);
        CHECK_THROWS_AS(hook.save_tensor("\xff", values), value_error);
        CHECK_THROWS_AS(hook.save_scalar("\xc3", 1), value_error);
        CHECK_THROWS_AS(hook.save_tensor("w", tensor_view{}), value_error);
        CHECK_THROWS_AS(hook.set_step(-1), value_error);
        CHECK_THROWS_AS(hook.set_step(0, -1), value_error);
        CHECK_THROWS_AS(hook.set_step(7), value_error);  // the step has begun
        // 2 GiB that do not exist: no byte is read.
        const std::array shape{std::size_t{1} << 31U};
        const tensor_view huge{.type = dtype::uint8,
                               .shape = shape,
                               .bytes = {reinterpret_cast<const std::byte*>(values.data()), shape[0]},
                               .strings = {}};
        CHECK_THROWS_AS(hook.save_tensor("huge", huge), unsupported);
        hook.save_tensor("after", values);
        hook.end_step();
        hook.close();
        const memory_trial run{store};
        CHECK(run.tensor_names() == std::vector<std::string>{"after", "before"});
        CHECK(run.tensor("after").value<float>(0)(2) == 3);
        CHECK(hook.counters().lost_steps == 0);
        CHECK(hook.counters().steps == 1);
        CHECK(run.loaded_all_steps());
    }
}

TEST_CASE("faults: a step's number may be large, but not so large that counting could end") {
    memory_storage store;
    basic_hook<memory_storage> hook{store, saves_all()};
    constexpr step_number last = std::numeric_limits<step_number>::max();
    CHECK_THROWS_AS(hook.set_step(last), value_error);
    CHECK_THROWS_AS(hook.set_step(largest_step + 1), value_error);
    CHECK_THROWS_AS(hook.set_step(0, last), value_error);
    hook.set_step(largest_step);
    for (int step = 0; step < 2; ++step) {
        hook.save_scalar("x", step);
        hook.end_step();
    }
    hook.close();
    CHECK(memory_trial{store}.steps() == std::vector<step_number>{largest_step, largest_step + 1});
    hook_options options = saves_all();
    options.init_step = last;
    CHECK_THROWS_AS((basic_hook<memory_storage>{memory_storage{}, options}), value_error);
}

TEST_CASE("faults: a second close does nothing, and nothing can be saved after the first") {
    for (const bool fails : {false, true}) {
        const faulty_storage store;
        faulty_hook hook{store, saves_all()};
        hook.save_scalar("x", 1);
        hook.end_step();
        if (fails) {
            store.plan({.first = 0, .only = "commit training_job_end"});
            CHECK_THROWS_AS(hook.close(), unavailable);
        } else {
            hook.close();
        }
        const std::vector<std::string> keys = store.objects().list("", "");
        const std::size_t calls = store.calls().size();
        CHECK_NOTHROW(hook.close());
        CHECK_NOTHROW(hook.flush());
        CHECK_THROWS_AS(hook.save_tensor("w", std::vector<float>{1}), unsupported);
        CHECK_THROWS_AS(hook.save_scalar("x", 1), unsupported);
        CHECK_THROWS_AS(hook.end_step(), unsupported);
        CHECK(hook.step() == 1);
        CHECK(store.objects().list("", "") == keys);
        CHECK(store.calls().size() == calls);
        CHECK(has_ended(store.objects()) == !fails);
    }
}

TEST_CASE("faults: a training that ends by an exception leaves a run that has not ended, and can be gone on with") {
    for (const writing how : {writing::at_once, writing::behind}) {
        hook_options options = writes(saves_all(), how);
        tally seen;
        memory_storage store;
        try {
            basic_hook<memory_storage> hook{store, options};
            for (step_number step = 0; step < 3; ++step) {
                hook.set_mode(step % 3 == 2 ? mode::eval : mode::train);
                for (const planned& tensor : planned_at(step)) {
                    hook.save_tensor(tensor.name, values_of(step, tensor));
                }
                if (step == 2) {
                    throw std::runtime_error("out of memory");
                }
                hook.end_step();
            }
        } catch (const std::runtime_error& thrown) {
            CHECK(thrown.what() == std::string{"out of memory"});
        }
        CHECK(whole_steps(store) == std::set<step_number>{0, 1});
        CHECK_FALSE(has_ended(store));
        CHECK_FALSE(store.claimed("claim.smd"));
        options.existing = existing_run::resume;
        basic_hook<memory_storage> hook{store, options};
        CHECK(hook.step() == 2);
        train(hook, seen);
        CHECK(seen.thrown == 0);
        CHECK(whole_steps(store).size() == step_count);
        CHECK(has_ended(store));
    }
}

TEST_CASE("faults: a hook that is made while an exception is on its way ends its run all the same") {
    memory_storage store;
    struct cleaner {
        memory_storage* into;
        ~cleaner() {
            basic_hook<memory_storage> hook{*into, saves_all()};
            hook.save_scalar("x", 1);
        }
    };
    try {
        const cleaner cleans{&store};
        throw std::runtime_error("elsewhere");
    } catch (const std::runtime_error&) {
    }
    CHECK(has_ended(store));
    CHECK(memory_trial{store}.steps().size() == 1);
}

TEST_CASE("faults: the end is not marked without a collections file, as the run could not be opened") {
    for (const writing how : {writing::at_once, writing::behind}) {
        CAPTURE(static_cast<int>(how));
        for (const auto policy : {failure_policy::raise, failure_policy::drop}) {
            const faulty_storage store{{}, {.first = 0, .count = 1000, .only = "collections/"}};
            hook_options options = writes(saves_all(), how);
            options.on_failure = policy;
            faulty_hook hook{store, options};
            tally seen;
            train(hook, seen);
            CHECK((seen.thrown > 0) == (policy == failure_policy::raise));
            CHECK_FALSE(has_ended(store.objects()));
            CHECK_FALSE(store.objects().claimed("claim.smd"));
        }
    }
}

TEST_CASE("faults: a destructor keeps errors to itself") {
    for (const writing how : {writing::at_once, writing::behind}) {
        const faulty_storage store;
        {
            faulty_hook hook{store, writes(saves_all(), how)};
            hook.save_scalar("x", 1);
            hook.end_step();
            try {
                hook.flush();
            } catch (const unavailable&) {
            }
            hook.save_scalar("x", 1);
            store.plan({.first = 0, .count = 1000});
        }
        CHECK_FALSE(has_ended(store.objects()));
        CHECK(store.objects().list("index/", "").size() == 1);
    }
}
