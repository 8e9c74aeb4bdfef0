#include <smdebug/learn/learn.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/fake_s3.hpp"
#include "support/given_text.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using smdebug::detail::learn::facts_access;

namespace {

/// Steps 0, 10, ...: "w" of four values that grow, "loss" of one.
std::vector<written_step> training(double scale, int steps = 4) {
    std::vector<written_step> all;
    for (int i = 0; i < steps; ++i) {
        const double size = scale * (i + 1);
        all.push_back({.step = 10 * i,
                       .tensors = {tensor_of<double>("w", {size, 0, -size, 0}), tensor_of<float>("loss", {0.5F}, {})}});
    }
    return all;
}

void write_run(const temporary_folder& folder, const std::string& name, const std::vector<written_step>& steps,
               bool ends = true) {
    local_storage store{folder.path() + "/" + name};
    run_builder build{store};
    build.collections();
    for (const written_step& each : steps) {
        build.step(each);
    }
    if (ends) {
        build.end();
    }
}

}  // namespace

TEST_CASE("learn: the facts of a run, under the trial's name") {
    const trial run{run_of(training(1)), {.name = "one"}};
    const learned_facts facts = learn(run);
    CHECK(facts.runs() == std::vector<std::string>{"one"});
    CHECK(facts.tensors() == std::vector<std::string>{"loss", "w"});
    const auto* const w = facts_access::data(facts).find("w", mode::train);
    REQUIRE(w != nullptr);
    CHECK(w->every.steps == 10);
    CHECK(*w->dtypes == std::vector<std::string>{"float64"});
    CHECK(w->changing == 3U);
    CHECK(w->finite == 4U);
    CHECK_FALSE(w->nonnegative.has_value());
    CHECK(w->numbers.size() == 3);
    CHECK(w->numbers.at(detail::learn::number::zeros).windows[0].low[0].number == 0.5);
    CHECK(w->numbers.at(detail::learn::number::abs_max).windows[1].low[0].number == 2);
    const auto* const loss = facts_access::data(facts).find("loss", mode::train);
    CHECK(loss->nonnegative == 1U);
    CHECK(loss->constant == 3U);
    CHECK(loss->numbers.size() == 1);
    CHECK(learn(run, {.threads = 3}).to_json() == facts.to_json());
    CHECK(facts_access::data(learn(run, {.reductions = {"l1", "mean"}})).find("w", mode::train)->numbers.size() == 2);
    CHECK_THROWS_WITH_AS(static_cast<void>(learn(run, {.reductions = "l3"})), doctest::Contains("no number \"l3\""),
                         value_error);
    CHECK_THROWS_AS(static_cast<void>(learn(run, {.reductions = "value"})), value_error);
}

TEST_CASE("learn: nothing is learned of a run of which a part cannot be read, or that has no step") {
    memory_storage store = run_of(training(1));
    damage(store, 20);
    CHECK_THROWS_AS(static_cast<void>(learn(trial{store})), error);
    memory_storage empty;
    run_builder{empty}.collections().end();
    CHECK_THROWS_WITH_AS(static_cast<void>(learn(trial{empty})), doctest::Contains("no complete step"), not_found);
    std::stop_source stop;
    stop.request_stop();
    CHECK_THROWS_AS(static_cast<void>(learn(trial{run_of(training(1))}, {.stop = stop.get_token()})), stopped_error);
}

TEST_CASE("learn: complete steps of a running job count, and a note says so") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (int i = 0; i < 3; ++i) {
        for (const char* worker : {"worker_0", "worker_1"}) {
            if (i < 2 || std::string{worker} == "worker_0") {
                build.step({.step = i, .tensors = {tensor_of<double>("w", {1.0 * i, 2})}, .worker = worker});
            }
        }
    }
    std::vector<std::string> notes;
    const learned_facts facts =
        learn(trial{store}, {.on_note = [&](const std::string&, const std::string& note) { notes.push_back(note); }});
    CHECK(facts_access::data(facts).modes.at(mode::train).last == 1);
    CHECK(facts_access::data(facts).find("w", mode::train)->replicas == 2U);
    REQUIRE(notes.size() == 1);
    CHECK(contains(notes[0], "has not ended"));
}

TEST_CASE("learn_runs: folders, in any order and number of threads, with those left out") {
    const temporary_folder folder;
    for (int i = 0; i < 5; ++i) {
        write_run(folder, "run-" + std::to_string(i), training(1 + i / 10.0));
    }
    write_run(folder, "unended", training(1), false);
    write_run(folder, "empty", {});
    write_run(folder, "damaged", training(1));
    std::filesystem::resize_file(folder.path() + "/damaged/events/000000000010/000000000010_worker_0.tfevents", 20);
    std::vector<std::string> left_out;
    std::vector<std::string> notes;
    std::size_t done = 0;
    const auto leave_out = [&](const left_out_run& one) {
        left_out.push_back(one.run);
        CHECK_FALSE(one.why.empty());
    };
    const learned_facts all =
        learn_runs({folder.path()},
                   {.threads = 3,
                    .on_note = [&](const std::string& run, const std::string&) { notes.push_back(run); },
                    .progress = [&](std::size_t count) { done = count; }},
                   leave_out);
    CHECK(all.runs().size() == 6);
    CHECK(done == 8);
    std::sort(left_out.begin(), left_out.end());
    CHECK(left_out == std::vector<std::string>{folder.path() + "/damaged", folder.path() + "/empty"});
    CHECK(notes == std::vector<std::string>{folder.path() + "/unended"});
    const learned_facts one_thread =
        learn_runs({folder.path() + "/unended", folder.path() + "/run-4", folder.path() + "/run-[0-3]"});
    CHECK(one_thread.to_json() == all.to_json());
    const learned_facts some = learn_runs({folder.path() + "/run-[0-2]"});
    CHECK(learn_runs({folder.path() + "/run-3", folder.path() + "/run-4", folder.path() + "/unended"}, {.add_to = some})
              .to_json() == all.to_json());
    CHECK_THROWS_WITH_AS(static_cast<void>(learn_runs({folder.path() + "/run-1"}, {.add_to = some})),
                         doctest::Contains("has been learned from already"), value_error);
    CHECK(facts_access::data(learn_runs({folder.path() + "/run-0"}, {.steps = {.begin = 10, .end = 30}}))
              .modes.at(mode::train)
              .last == 20);
    CHECK(learn_runs({folder.path() + "/none"}, {}, leave_out).runs().empty());
}

TEST_CASE("learn: runs in S3 are found, read by many threads and learned from under their addresses") {
    fake_s3_options for_everybody;
    for_everybody.keys.reset();
    const fake_s3 server{for_everybody};
    learned_facts truth;
    for (int i = 0; i < 6; ++i) {
        const std::string name = "runs/run-" + std::to_string(i);
        const memory_storage store = run_of(training(1 + i / 10.0));
        for (const std::string& key : store.list("", "")) {
            server.put(name + "/" + key, std::string{as_text(store.read(key).view())});
        }
        truth.join(learn(trial{store, {.name = "s3://bucket/" + name}}));
    }
    server.put("runs/damaged/index/000000000/000000000000_worker_0.json", "{");
    s3_options how = quick_options();
    how.anonymous = true;
    const auto place = [&](std::string_view path) { return any_storage{s3_storage{std::string{path}, how, server}}; };
    run_finder found{{"s3://bucket/runs"}, {.open_place = place}};
    std::vector<std::string> left_out;
    const learned_facts facts = detail::learn::learn_found(
        found, [&](const std::string& path, const std::optional<any_storage>&) { return trial{place(path)}; },
        {.threads = 3}, [&](const left_out_run& one) { left_out.push_back(one.run); });
    CHECK(facts.to_json() == truth.to_json());
    CHECK(left_out == std::vector<std::string>{"s3://bucket/runs/damaged"});
}
