// A finished run is never polled again; with a cache nothing is fetched twice.
#include <smdebug/trial/basic_trial.hpp>

#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/options.hpp>
#include <smdebug/trial/step_stream.hpp>
#include <smdebug/trial/trial.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug_test;
using namespace std::chrono_literals;
using calls_list = std::vector<std::string>;

namespace {

constexpr int steps_saved = 12;
const cache_options of_runs{.cacheable = is_written_once};
cache_options in_folder(const std::string& folder) { return {.folder = folder, .cacheable = is_written_once}; }

std::string missing_file() { return smdebug::detail::locations::event_key(30, "worker_1"); }

// Two workers; the event file of worker_1's step 30 is missing.
memory_storage a_run(bool ended = true) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"gradients", {"gradient"}}});
    for (int i = 0; i < steps_saved; ++i) {
        for (const char* worker : {"worker_0", "worker_1"}) {
            build.step({.step = 10 * i,
                        .tensors = {tensor_of<float>("gradient", {static_cast<float>(i), 1}),
                                    tensor_of<float>("loss", {0.5F})},
                        .mode_step = i,
                        .worker = worker});
        }
    }
    if (ended) {
        build.end();
    }
    store.remove(missing_file());
    return store;
}

// A file that was missing is looked up by its size, without an exception: this counts as reading, not as a look.
bool looks(const std::string& call) {
    return call != "size " + missing_file() &&
           (call.starts_with("list ") || call.starts_with("entries ") || call.starts_with("size "));
}

// Everything that can be read from a trial.
template <class Trial>
void ask_everything(const Trial& run) {
    CHECK(run.steps().size() == steps_saved);
    CHECK(run.steps({.mode = mode::train, .show_incomplete_steps = true}).size() == steps_saved);
    CHECK(run.steps({.mode = mode::eval}).empty());
    CHECK(run.tensor_names().size() == 2);
    CHECK(run.tensor_names({.collection = "gradients", .step = 10}).size() == 1);
    CHECK(run.tensor_names({.regex = "nothing"}).empty());
    CHECK_FALSE(run.has_tensor("missing"));
    CHECK_THROWS_AS(static_cast<void>(run.tensor("missing")), tensor_unavailable);
    CHECK(run.has_passed_step(10) == step_state::available);
    CHECK(run.has_passed_step(11) == step_state::unavailable);
    CHECK(run.has_passed_step(1'000'000) == step_state::unavailable);
    CHECK_FALSE(run.mode(1'000'000));
    CHECK_FALSE(run.mode_step(11));
    CHECK_FALSE(run.global_step(mode::eval, 3));
    CHECK(run.workers(1'000'000).empty());
    CHECK(run.workers(10).size() == 2);
    CHECK(run.loaded_all_steps());
    CHECK(run.job_state() == job_state::ended);
    run.refresh();
    run.wait_for_steps({0, 50, 110});
    CHECK_THROWS_AS(run.wait_for_steps({1'000'000}), no_more_data);
    CHECK_THROWS_AS(run.wait_for_steps({55}, {.timeout = 1h}), step_unavailable);
    const auto gradient = run.tensor("gradient");
    CHECK(gradient.steps().size() == steps_saved);
    CHECK(gradient.template value<float>(20)(0) == 2);
    CHECK(gradient.reduction_value(40, reduction::max) == 4);
    CHECK_FALSE(gradient.find_value(55).has_value());
    CHECK_FALSE(gradient.find_value(30, {.worker = "worker_1"}).has_value());  // its file will not come
    CHECK_FALSE(gradient.find_value(20, {.worker = "worker_7"}).has_value());
    const auto outcome = invoke_rule(rules::vanishing_gradient{}, run);
    CHECK(outcome.end == invoke_end::end_of_run);
    CHECK(outcome.evaluated == steps_saved);
    const with_refresh guard{run};
    CHECK(run.steps().size() == steps_saved);
    std::size_t visited = 0;
    for_each_tensor(run, {}, reduction_set{reduction::mean}, [&](const reduced_tensor&) { ++visited; }, {.threads = 2});
    CHECK(visited == 4 * steps_saved);
}

}  // namespace

TEST_CASE("a finished run: once it is loaded, no call lists or looks up anything") {
    const counting_storage<> far{a_run()};
    const basic_trial run{far};
    CHECK(run.loaded_all_steps());
    static_cast<void>(far.calls());
    for (int i = 0; i < 2; ++i) {
        ask_everything(run);
        const calls_list calls = far.calls();
        CHECK(std::none_of(calls.begin(), calls.end(), looks));
        CHECK_FALSE(calls.empty());  // values are read
    }
}

TEST_CASE("a finished run: the same when the run ended while the trial watched it") {
    counting_storage<> far{a_run(false)};
    const basic_trial run{far};
    CHECK_FALSE(run.loaded_all_steps());
    run_builder{far}.end();
    run.refresh();
    CHECK(run.loaded_all_steps());
    static_cast<void>(far.calls());
    ask_everything(run);
    const calls_list calls = far.calls();
    CHECK(std::none_of(calls.begin(), calls.end(), looks));
}

TEST_CASE("a finished run: with a cache nothing is requested twice") {
    counting_storage<> far{a_run()};
    far.write(missing_file(), as_bytes("not a record"));  // a missing one would be requested
    const auto try_it = [&](auto store) {
        const basic_trial run{std::move(store)};
        for (int i = 0; i < steps_saved; ++i) {  // a single scan leaves nothing in a memory cache
            for (const char* worker : {"worker_0", "worker_1"}) {
                static_cast<void>(run.tensor("gradient").find_value(10 * i, {.worker = worker}));
            }
        }
        ask_everything(run);
        static_cast<void>(far.calls());
        ask_everything(run);
        CHECK(far.calls() == calls_list{});
    };
    const temporary_folder folder;
    try_it(cached_storage(far, of_runs));
    try_it(any_storage{cached_storage(far, of_runs)});
    try_it(cached_storage(far, in_folder(folder.path())));
}

TEST_CASE("a finished run: a disk cache serves the next trial, which only checks that the run is the same") {
    const temporary_folder folder;
    counting_storage<> far{a_run()};
    for (const bool warm : {false, true}) {
        CAPTURE(warm);
        const basic_trial run{cached_storage(far, in_folder(folder.path()))};
        for (int i = 0; i < steps_saved; ++i) {
            CHECK(run.tensor("gradient").template value<float>(10 * i)(0) == static_cast<float>(i));
        }
        const calls_list calls = far.calls();
        const auto fetched = std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
            return call.find("events/0") != std::string::npos || call.find("index/0") != std::string::npos;
        });
        CHECK((fetched == 0) == warm);
    }
    // A run that replaces this one: the same steps and sizes, other values.
    run_builder build{far};
    for (int i = 0; i < steps_saved; ++i) {
        for (const char* worker : {"worker_0", "worker_1"}) {
            build.step({.step = 10 * i,
                        .tensors = {tensor_of<float>("gradient", {static_cast<float>(-i), 1}),
                                    tensor_of<float>("loss", {0.5F})},
                        .mode_step = i,
                        .worker = worker});
        }
    }
    const basic_trial run{cached_storage(far, in_folder(folder.path()))};
    for (int i = 0; i < steps_saved; ++i) {
        CHECK(run.tensor("gradient").template value<float>(10 * i)(0) == static_cast<float>(-i));
    }
}
