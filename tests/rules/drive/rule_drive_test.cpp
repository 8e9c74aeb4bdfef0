#include <smdebug/rules/drive/rule_drive.hpp>

#include "support/fake_trial.hpp"
#include "support/run_builder.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using detail::driven_rule;
using std::chrono::milliseconds;
using steps_list = std::vector<step_number>;

namespace {

/// A rule that finds `count` things at some steps, and notes where it was called.
driven_rule finds_at(std::string name, steps_list met_at, steps_list& called, int count = 1) {
    return {.name = std::move(name),
            .call = [met_at = std::move(met_at), &called, count](step_number step, const auto&) {
                called.push_back(step);
                std::vector<finding> found;
                for (const step_number at : met_at) {
                    for (int i = 0; at == step && i < count; ++i) {
                        found.push_back({.met = true, .step = step, .message = std::to_string(i)});
                    }
                }
                return found;
            }};
}

memory_storage stored(const steps_list& steps, bool ended) {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : steps) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}});
    }
    if (ended) {
        build.end();
    }
    return store;
}

const auto no_preparation = [](step_number) {};

template <class Trial>
void drive(const Trial& run, std::vector<driven_rule>& rules, const invoke_options& how = {}, bool isolate = true) {
    detail::rule_drive{run, std::span{rules}, how, isolate, no_preparation}.go();
}

}  // namespace

TEST_CASE("rule_drive: all rules see a step before the next; a preparation comes before them, once a step") {
    const memory_trial run{stored({0, 3, 7}, true)};
    std::string order;
    std::vector<driven_rule> rules(2);
    for (std::size_t i = 0; i < 2; ++i) {
        rules[i].call = [&order, i](step_number step, const auto&) {
            order += std::to_string(step) + (i == 0 ? "a " : "b ");
            return std::vector<finding>{};
        };
    }
    const invoke_options how;
    detail::rule_drive{run, std::span{rules}, how, true,
                       [&](step_number step) { order += "[" + std::to_string(step) + "] "; }}
        .go();
    CHECK(order == "[0] 0a 0b [3] 3a 3b [7] 7a 7b ");
    CHECK(rules[0].outcome.evaluated == 3);
    CHECK(rules[0].outcome.end == invoke_end::end_of_run);
    CHECK(rules[0].outcome.next_step == 8);
}

TEST_CASE("rule_drive: each rule within its own range, and all of them within the walk's") {
    const fake_trial run{{{"a", {{0, {1}}, {2, {1}}, {4, {1}}, {6, {1}}, {8, {1}}}}}};
    steps_list all;
    steps_list part;
    std::vector<driven_rule> rules{finds_at("all", {}, all), finds_at("part", {}, part)};
    rules[1].range = {3, 6};
    drive(run, rules, {.start_step = 2, .end_step = 8});
    CHECK(all == steps_list{2, 4, 6});
    CHECK(part == steps_list{4});
    CHECK(rules[0].outcome.end == invoke_end::end_step);
    CHECK(rules[0].outcome.next_step == 8);
    CHECK(rules[1].outcome.end == invoke_end::end_step);
    CHECK(rules[1].outcome.next_step == 6);
}

TEST_CASE("rule_drive: a walk ends when all rules have") {
    const fake_trial run{{{"a", {{0, {1}}, {1, {1}}, {2, {1}}, {3, {1}}}}}};
    steps_list early;
    steps_list late;
    std::vector<driven_rule> rules{finds_at("early", {0}, early), finds_at("late", {1, 2}, late, 3)};
    std::vector<std::string> told;
    rules[1].listener.on_finding = [&](step_number, const finding& one) { told.push_back(one.message); };
    drive(run, rules, {.stop_at_first = true, .first_offender = true});
    CHECK(early == steps_list{0});
    CHECK(late == steps_list{0, 1});
    CHECK(told == std::vector<std::string>{"0"});
    CHECK(rules[0].outcome.end == invoke_end::first_finding);
    CHECK(rules[1].outcome.next_step == 2);
    drive(run, rules);  // nothing is left to do
    CHECK(late == steps_list{0, 1});
}

TEST_CASE("rule_drive: a rule that throws ends alone, or ends all, as is wanted; what is missing skips the step") {
    const fake_trial run{{{"a", {{0, {1}}, {1, {1}}, {2, {1}}}}}};
    const auto lacking = [] {
        return driven_rule{.name = "lacking", .call = [](step_number step, const auto&) -> std::vector<finding> {
                               if (step == 1) {
                                   throw tensor_unavailable{"t"};
                               }
                               if (step == 2) {
                                   throw invalid_worker{"w"};  // no step is skipped for that
                               }
                               return {};
                           }};
    };
    steps_list skipped;
    steps_list called;
    std::vector<driven_rule> rules{lacking(), finds_at("other", {}, called)};
    rules[0].listener.on_skip = [&](step_number step, const error& why) {
        skipped.push_back(step);
        CHECK(why.python_name() == "TensorUnavailable");
    };
    drive(run, rules);
    CHECK(skipped == steps_list{1});
    CHECK(rules[0].outcome.evaluated == 1);
    CHECK(rules[0].outcome.skipped == 1);
    CHECK(rules[0].outcome.end == invoke_end::failed);
    CHECK(rules[0].outcome.next_step == 2);
    CHECK_THROWS_AS(std::rethrow_exception(rules[0].failure), invalid_worker);
    CHECK(called == steps_list{0, 1, 2});
    std::vector<driven_rule> alone{lacking()};
    CHECK_THROWS_AS(drive(run, alone, {}, false), invalid_worker);
}

TEST_CASE("rule_drive: a rule that waits for something else in vain ends with that wait's end") {
    const fake_trial run{{{"a", {{0, {1}}, {1, {1}}}}}};
    steps_list called;
    std::vector<driven_rule> rules{finds_at("other", {}, called),
                                   {.name = "waits", .call = [](step_number, const auto&) -> std::vector<finding> {
                                        throw timed_out{"too long"};
                                    }}};
    drive(run, rules);
    CHECK(rules[1].outcome.end == invoke_end::timed_out);
    CHECK(rules[1].outcome.next_step == 0);
    CHECK_FALSE(rules[1].failure);
    CHECK(called == steps_list{0, 1});
}

TEST_CASE("rule_drive: raises the condition's exception where that is asked for") {
    const fake_trial run{{{"a", {{0, {1}}, {1, {1}}}}}};
    steps_list called;
    std::vector<driven_rule> rules{finds_at("strict", {1}, called)};
    CHECK_THROWS_AS(drive(run, rules, {.raise_eval_cond = true}, false), rule_evaluation_condition_met);
    CHECK(called == steps_list{0, 1});
}

TEST_CASE("rule_drive: rules that want to be asked are asked while a step is waited for, until the timeout") {
    const memory_trial run{stored({0}, false), {.poll_interval = milliseconds{1}}};
    int asked = 0;
    steps_list called;
    std::vector<driven_rule> rules{finds_at("asked", {}, called), finds_at("not asked", {}, called)};
    rules[0].poll = [&]() -> std::optional<finding> {
        return ++asked == 2 ? std::optional{finding{.met = true, .message = "stalled"}} : std::nullopt;
    };
    rules[0].poll_interval = milliseconds{1};
    drive(run, rules, {.timeout = milliseconds{20}});
    CHECK(asked >= 2);
    CHECK(called == steps_list{0, 0});
    REQUIRE(rules[0].outcome.findings.size() == 1);
    CHECK(rules[0].outcome.findings[0].rule == "asked");
    CHECK(rules[0].outcome.findings[0].step == 0);
    CHECK(rules[0].outcome.end == invoke_end::timed_out);
    CHECK(rules[1].outcome.end == invoke_end::timed_out);
    CHECK(rules[0].outcome.next_step == 1);
    asked = 0;
    std::vector<driven_rule> stops{finds_at("asked", {}, called)};
    stops[0].poll = rules[0].poll;
    stops[0].poll_interval = milliseconds{1};
    drive(run, stops, {.stop_at_first = true});  // no timeout: the finding is what ends it
    CHECK(stops[0].outcome.end == invoke_end::first_finding);
    CHECK(asked == 2);
}

TEST_CASE("rule_drive: the rule that wants to be asked most often decides how often") {
    const fake_trial run;
    std::vector<driven_rule> rules(3);
    const invoke_options how;
    detail::rule_drive drive{run, std::span{rules}, how, true, no_preparation};
    CHECK_FALSE(drive.poll_interval().has_value());
    rules[0].poll = rules[2].poll = [] { return std::optional<finding>{}; };
    rules[0].poll_interval = milliseconds{50};
    rules[2].poll_interval = milliseconds{20};
    CHECK(drive.poll_interval() == milliseconds{20});
    rules[2].over = true;
    CHECK(drive.poll_interval() == milliseconds{50});
    drive.end_all(invoke_end::stopped, 5);
    CHECK(drive.all_over());
    CHECK(rules[0].outcome.end == invoke_end::stopped);
    CHECK(rules[2].outcome.end == invoke_end::end_of_run);  // it was over already
}
