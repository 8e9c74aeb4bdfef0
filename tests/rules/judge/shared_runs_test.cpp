#include <smdebug/rules/judge/shared_runs.hpp>

#include "support/counting_storage.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;
using counting_trial = basic_trial<counting_storage<>>;
using rules::detail::shared_runs;

namespace {

/// Tensors "a", "b", "c" at 40 steps; the value of each is the step.
memory_storage forty_steps() {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 40; ++step) {
        const auto value = static_cast<float>(step);
        build.step({.step = step,
                    .tensors = {tensor_of<float>("a", {value}), tensor_of<float>("b", {value}),
                                tensor_of<float>("c", {value})}});
    }
    build.end();
    return store;
}

/// Reads all three at a step, two reductions of each, and returns their sum.
double sum_at(const trial& run, step_number step) {
    double sum = 0;
    for (const std::string name : {"a", "b", "c"}) {
        for (const reduction what : {reduction::min, reduction::max}) {
            sum += run.tensor(name).reduction_value(step, what, {.worker = "worker_0"});
        }
    }
    return sum;
}

std::size_t event_reads(counting_storage<>& store) {
    const auto calls = store.calls();
    return static_cast<std::size_t>(std::count_if(calls.begin(), calls.end(), [](const std::string& call) {
        return call.find("events/") != std::string::npos && !call.starts_with("size");
    }));
}

}  // namespace

TEST_CASE("shared_runs: a step is read once, and says what the run says") {
    counting_storage<> store{forty_steps()};
    const counting_trial run{store};
    static_cast<void>(event_reads(store));
    shared_runs shared;
    for (step_number step = 0; step < 40; ++step) {
        CHECK(sum_at(shared.at(run, step), step) == 6 * static_cast<double>(step));
    }
    CHECK(event_reads(store) <= 40 + 6);  // at the first step it is unknown what will be read
    CHECK(sum_at(run, 5) == 30);
    CHECK(event_reads(store) == 6);  // the run itself is as it was
}

TEST_CASE("shared_runs: steps that are not looked at are not read") {
    counting_storage<> store{forty_steps()};
    const counting_trial run{store};
    static_cast<void>(event_reads(store));
    shared_runs shared;
    for (step_number step = 0; step < 40; step += 10) {
        CHECK(sum_at(shared.at(run, step), step) == 6 * static_cast<double>(step));
    }
    CHECK(event_reads(store) <= 4 + 6);
}

TEST_CASE("shared_runs: a step that is not complete, or not there, is the run's own") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("a", {1})}});
    const memory_trial run{store};
    shared_runs shared;
    CHECK(&shared.at(run, 0) == &run);
    CHECK(&shared.at(run, 7) == &run);
}

TEST_CASE("shared_runs: a copy shares nothing with the original") {
    const memory_trial run{forty_steps()};
    shared_runs shared;
    const trial& seen = shared.at(run, 0);
    CHECK(&seen != &run);
    CHECK(&shared.at(run, 1) == &seen);
    shared_runs copy = shared;
    const trial& seen_by_copy = copy.at(run, 2);
    CHECK(&seen_by_copy != &seen);
    CHECK(smdebug::detail::trial_access::rule_log(seen_by_copy) != smdebug::detail::trial_access::rule_log(seen));
    copy = shared;
    CHECK(copy.at(run, 3).tensor("a").reduction_value(3, reduction::max) == 3);
}
