#include <smdebug/batch/scan_runs.hpp>

#include "support/run_builder.hpp"
#include "support/temporary_folder.hpp"
#include "support/test.hpp"

#include <smdebug/registry/built_in_rules.hpp>
#include <smdebug/registry/rule_registry.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_storage.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

/// A run with a NaN at one step, or none; `end`: its job has ended.
template <class Storage>
void write_run(Storage&& store, std::optional<step_number> bad, bool end = true) {
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"w"}}});
    for (step_number step = 0; step < 12; ++step) {
        const float value = bad == step ? std::nanf("") : static_cast<float>(step + 1);
        build.step({.step = step, .tensors = {tensor_of<float>("w", {value, 1})}});
    }
    if (end) {
        build.end();
    }
}

}  // namespace

TEST_CASE("scan_runs: rules over many runs, with results in the order of the paths") {
    const temporary_folder folder;
    std::vector<std::string> paths;
    for (int i = 0; i < 6; ++i) {
        paths.push_back(folder.path() + "/run" + std::to_string(i));
        write_run(local_storage{paths.back()}, i % 2 == 1 ? std::optional<step_number>{i} : std::nullopt, i != 4);
    }
    paths.insert(paths.begin() + 2, folder.path() + "/nowhere");
    const auto registry = rule_registry<trial>::built_in();
    for (const unsigned threads : {1U, 3U}) {
        std::vector<run_result> all;
        CHECK(scan_runs(
            paths, [&](const trial& run) { return applicable_rules(registry, run); }, {.batch = {.threads = threads}},
            [&](run_result&& result) { all.push_back(std::move(result)); }));
        REQUIRE(all.size() == paths.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            CHECK(all[i].run.path == paths[i]);
        }
        CHECK(all[2].state == run_state::failed);
        CHECK(all[2].error.find("nowhere") != std::string::npos);
        CHECK(all[5].state == run_state::growing);
        CHECK(all[6].state == run_state::ended);
        CHECK(all[6].steps == 12);
        CHECK(all[6].workers == 1);
        CHECK(all[6].tensors == 1);
        CHECK(all[6].last_step == 11);
        std::map<std::string, rule_result> verdicts;
        for (const rule_result& each : all[6].verdicts) {
            verdicts.emplace(each.name, each);
        }
        REQUIRE(verdicts.contains("exploding_tensor"));
        const rule_result& nan = verdicts.at("exploding_tensor");
        CHECK(nan.status == rule_status::issues_found);
        REQUIRE(nan.outcome.findings.size() == 1);
        CHECK(nan.outcome.findings[0].step == 5);
        CHECK(nan.outcome.findings[0].rule == "exploding_tensor");
        CHECK(nan.summary == "w: 1 NaN and 0 infinite of 2 values");
        CHECK(nan.outcome.evaluated == 12);
        REQUIRE(verdicts.contains("all_zero"));
        CHECK(verdicts.at("all_zero").status == rule_status::no_issues_found);
    }
}

TEST_CASE("scan_runs: storages, trials and rules of one's own") {
    memory_storage store;
    write_run(store, 3);
    const std::vector<const char*> names{"a", "b"};
    std::vector<run_result> all;
    CHECK(scan_runs(
        names, [](const memory_trial&) { return std::vector<any_rule<memory_trial>>{rules::exploding_tensor{}}; },
        {.rules = {.common = {.end_step = 3}}}, [&](run_result&& result) { all.push_back(std::move(result)); },
        [&](const std::string& path, trial_options how) {
            how.name = path;
            return memory_trial{store, std::move(how)};
        }));
    REQUIRE(all.size() == 2);
    CHECK(all[1].run.path == "b");
    REQUIRE(all[1].verdicts.size() == 1);
    CHECK(all[1].verdicts[0].outcome.evaluated == 3);
    CHECK(all[1].verdicts[0].status == rule_status::no_issues_found);
}

TEST_CASE("scan_runs: a rule that fails has a verdict that says so; one that lacks memory is the run's failure") {
    memory_storage store;
    write_run(store, std::nullopt);
    const auto failing = [](const memory_trial&, step_number step) {
        if (step == 4) {
            throw value_error("it cannot be");
        }
        return finding{.met = step == 2, .tensor = "w", .message = "too much"};
    };
    const auto greedy = [](const memory_trial&, step_number) -> finding { throw std::bad_alloc(); };
    const auto scanned = [&](const any_rule<memory_trial>& rule) {
        std::optional<run_result> only;
        scan_runs(
            std::vector<std::string>{"x"},
            [&](const memory_trial&) { return std::vector<any_rule<memory_trial>>{rule}; }, {},
            [&](run_result&& result) { only = std::move(result); },
            [&](const std::string&, trial_options how) {
                return memory_trial{store, std::move(how)};
            });
        return only.value();
    };
    const run_result failed = scanned(failing);
    CHECK(failed.state == run_state::incomplete);
    REQUIRE(failed.verdicts.size() == 1);
    CHECK(failed.verdicts[0].status == rule_status::error);
    CHECK(failed.verdicts[0].summary == "w: too much; failed later: SMDebugValueError: it cannot be");
    CHECK(scanned(greedy).state == run_state::no_memory);
}

TEST_CASE("scan_runs: a run of which something is damaged or missing is incomplete, and says what") {
    const temporary_folder folder;
    const std::string cut = folder.path() + "/cut";
    write_run(local_storage{cut}, std::nullopt);
    std::filesystem::remove(cut + "/events/000000000003/000000000003_worker_0.tfevents");
    const std::string damaged = folder.path() + "/damaged";
    write_run(local_storage{damaged}, std::nullopt);
    std::ofstream{damaged + "/index/000000000/000000000003_worker_0.json"} << "{";
    const auto registry = rule_registry<trial>::built_in();
    std::vector<run_result> all;
    scan_runs(
        std::vector<std::string>{cut, damaged}, [&](const trial& run) { return applicable_rules(registry, run); },
        {.trial = {.missing_event_file_retry_limit = 0, .damaged_index = damage_policy::skip}},
        [&](run_result&& result) { all.push_back(std::move(result)); });
    REQUIRE(all.size() == 2);
    CHECK(all[0].state == run_state::incomplete);
    CHECK(all[1].state == run_state::incomplete);
    REQUIRE(all[1].messages.size() == 1);
    CHECK(all[1].messages[0].what == run_message::kind::error);
    CHECK(all[1].messages[0].text.find("000000000003_worker_0.json") != std::string::npos);
}
