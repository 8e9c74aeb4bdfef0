// Runs that start late, stop early, or lose a process.
#include "live/writers.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;

namespace {

written_step simple_step(step_number step, const std::string& worker = "worker_0") {
    return {.step = step, .tensors = {tensor_of<float>("w", {1, 2, static_cast<float>(step)})}, .worker = worker};
}

// Old files.
void make_old(const std::string& path, std::chrono::hours age) {
    const auto then = std::filesystem::file_time_type::clock::now() - age;
    for (const auto& held : std::filesystem::recursive_directory_iterator{path}) {
        std::filesystem::last_write_time(held.path(), then);
    }
}

}  // namespace

TEST_CASE("waiting: a run that has not started, in a folder that is not there, is opened when it starts") {
    const temporary_folder folder;
    const std::string path = folder.path() + "/jobs/today/run";
    const std::jthread writer{[&] {
        std::this_thread::sleep_for(30ms);
        local_storage store{path};
        run_builder build{store};
        build.step(simple_step(0));
        build.collections({"worker_0", "worker_1"});
        build.step(simple_step(0, "worker_1"));
    }};
    const local_trial run{path, {.open_timeout = 60s, .poll_interval = 1h}};  // woken, not by the interval
    CHECK(run.num_workers() == 2);
    run.wait_for_steps({0}, {.timeout = 60s});
    CHECK(run.steps() == std::vector<step_number>{0});
    CHECK(run.job_state() == job_state::running);
}

TEST_CASE("waiting: an opening that is stopped says so, one that lasts too long says what is missing") {
    const temporary_folder folder;
    std::stop_source stop;
    const std::jthread stopper{[&] {
        std::this_thread::sleep_for(20ms);
        stop.request_stop();
    }};
    const auto open = [&](trial_options how) { const local_trial run{folder.path() + "/run", std::move(how)}; };
    CHECK_THROWS_AS(
        open({.open_timeout = std::chrono::milliseconds::max(), .poll_interval = 1h, .stop = stop.get_token()}),
        stopped_error);
    CHECK_THROWS_AS(open({.open_timeout = 10ms}), not_found);
}

TEST_CASE("waiting: a collections file that is being written is waited for, one that stays cut is named") {
    const temporary_folder folder;
    const std::string key = "collections/000000000/worker_0_collections.json";
    folder.write(key, "{\"collections\": {}, \"_meta\": {\"num_wor");
    const auto open = [&](std::chrono::milliseconds timeout) {
        return local_trial{folder.path(), {.open_timeout = timeout}};
    };
    CHECK(thrown_code([&] { static_cast<void>(open(5ms)); }) == error_code::corrupt_collections_file);
    {
        const std::jthread writer{[&] {
            std::this_thread::sleep_for(20ms);
            folder.write(key, "{\"collections\": {}, \"_meta\": {\"num_workers\": 1}}");
        }};
        CHECK(open(60s).num_workers() == 1);
    }
    folder.write(key, "{\"collections\": 3, \"_meta\": {\"num_workers\": 1}}");  // complete, but wrong
    CHECK(thrown_code([&] { static_cast<void>(open(1h)); }) == error_code::corrupt_collections_file);
}

TEST_CASE("waiting: a step is seen when it comes, with a poll interval that would never have shown it") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections().step(simple_step(0));
    const local_trial run{folder.path(), {.poll_interval = 24h}};
    const std::jthread writer{[&] {
        for (const step_number step : {1, 999, 1000, 2500}) {  // existing and new index folders
            std::this_thread::sleep_for(15ms);
            build.step(simple_step(step));
        }
        std::this_thread::sleep_for(15ms);
        build.end();
    }};
    run.wait_for_steps({1, 999, 1000, 2500}, {.timeout = 60s});
    CHECK_THROWS_AS(run.wait_for_steps({2501}, {.timeout = 60s}), no_more_data);
    CHECK(run.job_state() == job_state::ended);
}

TEST_CASE("waiting: a missing event file is waited for, and read when it comes") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections();
    const written_step late = simple_step(4);
    const event_bytes events = encode_events(late);
    const std::string key = smdebug::detail::locations::event_key(4, "worker_0");
    build.put(smdebug::detail::locations::index_key(4, "worker_0"), index_text(late, events.places, key));
    const local_trial run{folder.path(), {.poll_interval = 60s, .missing_event_file_retry_limit = 2}};
    const std::jthread writer{[&] {
        std::this_thread::sleep_for(20ms);
        store.write(key, events.bytes);
    }};
    CHECK(run.tensor("w").value<float>(4)(2) == 4.0F);
}

TEST_CASE("waiting: a process that is killed makes a stalled job, and not one that has ended") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    // One worker writes until it is killed, another one finishes.
    fleet writers{
        {.path = folder.path(), .workers = 2, .steps = 100'000, .stride = 1, .slowest_us = 500, .marks_end = false}};
    const local_trial run{folder.path(), {.poll_interval = 5ms, .stalled_after = 1h}};
    run.wait_for_steps({20}, {.timeout = 60s});
    CHECK(run.job_state() == job_state::running);
    writers.kill_worker(1);
    writers.kill_worker(0);

    std::vector<step_number> seen;
    const auto rule = [&](const auto&, step_number step) -> finding {
        seen.push_back(step);
        return {};
    };
    const rule_outcome outcome = invoke_rule(rule, run, {.give_up_after = 100ms});
    CHECK(outcome.end == invoke_end::stalled);
    CHECK(seen.size() > 20);
    CHECK(seen == run.steps());
    CHECK(outcome.next_step == seen.back() + 1);
    CHECK(run.quiet_time() >= 100ms);
    CHECK_FALSE(run.loaded_all_steps());
    CHECK(thrown_code([&] {
              static_cast<void>(run.wait_for_steps({seen.back() + 10'000}, {.give_up_after = 100ms}));
          }) == error_code::stalled);
    CHECK(thrown_code([&] { static_cast<void>(run.wait_for_steps({seen.back() + 10'000}, {.timeout = 5ms})); }) ==
          error_code::timed_out);

    // A later reader sees from the files' times how long the run has been quiet.
    make_old(folder.path(), 48h);
    const local_trial later{folder.path()};
    CHECK(later.job_state() == job_state::stalled);
    CHECK(later.quiet_time() >= 47h);
    // What gives up counts only the time that it has seen pass itself.
    CHECK(invoke_rule(rule, later, {.start_step = seen.back() + 1, .give_up_after = 50ms}).end == invoke_end::stalled);
    CHECK(invoke_rule(rule, later, {.start_step = seen.back() + 1, .timeout = 50ms, .give_up_after = 1h}).end ==
          invoke_end::timed_out);

    // The job is resumed, and ends.
    build.step(simple_step(200'000)).step(simple_step(200'000, "worker_1"));
    CHECK(later.job_state() == job_state::running);
    build.end();
    CHECK(later.job_state() == job_state::ended);
    const rule_outcome rest = invoke_rule(rule, later, {.start_step = outcome.next_step, .give_up_after = 1h});
    CHECK(rest.end == invoke_end::end_of_run);
    CHECK(seen == later.steps());  // now steps of only one worker count as well
}

TEST_CASE("waiting: after the job's end its files are looked for as long as it was asked to") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections().step(simple_step(0));
    const local_trial run{folder.path(), {.poll_interval = 2ms, .training_end_delay_refresh = 50ms}};
    build.end();
    run.refresh();
    CHECK_FALSE(run.loaded_all_steps());
    build.step(simple_step(1));  // shown late
    CHECK_THROWS_AS(run.wait_for_steps({2}, {.timeout = 60s}), no_more_data);
    CHECK(run.loaded_all_steps());
    CHECK(run.steps() == std::vector<step_number>{0, 1});
    // A run that had ended before it was opened has been there long enough.
    CHECK(local_trial{folder.path(), {.training_end_delay_refresh = 1h}}.loaded_all_steps());
}

TEST_CASE("waiting: many threads wait on one trial, and all of them are woken") {
    const temporary_folder folder;
    local_storage store{folder.path()};
    run_builder build{store};
    build.collections().step(simple_step(0));
    const local_trial run{folder.path(), {.poll_interval = 24h}};
    std::vector<int> came(8, 0);
    {
        std::vector<std::jthread> crew;
        for (int& one : came) {
            crew.emplace_back([&] {
                run.wait_for_steps({7}, {.timeout = 60s});
                one = 1;
            });
        }
        std::this_thread::sleep_for(20ms);
        build.step(simple_step(7));
    }
    CHECK(came == std::vector<int>(8, 1));
}
