#include <smdebug/trial/read/trial_state.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "trial/one_step.hpp"

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;

TEST_CASE("step_wait: looks, pauses until something comes, and looks again") {
    memory_storage store;
    run_builder build{store};
    build.collections().step(one(1));
    const memory_trial run{store, {.poll_interval = 24h}};
    step_wait wait{*state_of(run), {.timeout = 60s}};
    CHECK(wait.look()->steps.size() == 1);
    const std::jthread writer{[&] {
        std::this_thread::sleep_for(10ms);
        build.step(one(2));
    }};
    while (wait.look()->steps.size() < 2) {
        REQUIRE(wait.pause() == wait_outcome::look_again);
    }
    CHECK_FALSE(wait.given_up());
}

TEST_CASE("step_wait: gives up once it has been quiet for long enough, and not before, however long the interval is") {
    memory_storage store;
    run_builder{store}.collections().step(one(1));
    const memory_trial run{store, {.poll_interval = 24h}};
    step_wait wait{*state_of(run), {.give_up_after = 30ms}};
    static_cast<void>(wait.look());
    while (!wait.given_up()) {
        REQUIRE(wait.pause() == wait_outcome::look_again);
    }
    CHECK(run.quiet_time() >= 30ms);
}

TEST_CASE("step_wait: ends by its own stop token, by the trial's, and by its timeout") {
    memory_storage store;
    run_builder{store}.collections().step(one(1));
    std::stop_source whole;
    const memory_trial run{store, {.poll_interval = 24h, .stop = whole.get_token()}};
    const auto outcome = [&](const wait_options& how) {
        step_wait wait{*state_of(run), how};
        auto last = wait_outcome::look_again;
        while (last == wait_outcome::look_again) {
            static_cast<void>(wait.look());
            last = wait.pause();
        }
        return last;
    };
    CHECK(outcome({.timeout = 5ms}) == wait_outcome::timed_out);
    std::stop_source own;
    own.request_stop();
    CHECK(outcome({.stop = own.get_token()}) == wait_outcome::stopped);
    whole.request_stop();
    CHECK(outcome({}) == wait_outcome::stopped);
}
