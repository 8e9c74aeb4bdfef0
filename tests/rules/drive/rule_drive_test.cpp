#include <smdebug/rules/drive/rule_drive.hpp>

#include "support/archetypes.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug_test;
using std::chrono::milliseconds;
using steps_list = std::vector<step_number>;

namespace {

/// A rule with a name that is known only at run time, made of a function of the step.
template <class Call>
struct named {
    std::string called;
    Call call;
    [[nodiscard]] std::string name() const { return called; }
    [[nodiscard]] auto operator()(const readable_trial auto& /*run*/, step_number step) const { return call(step); }
};
template <class Call>
named(std::string, Call) -> named<Call>;

/// A rule with `count` findings at some steps, which notes where it was called.
auto finds_at(std::string name, steps_list met_at, steps_list& called, int count = 1) {
    return named{std::move(name), [met_at = std::move(met_at), &called, count](step_number step) {
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

/// A rule that is polled while a step is waited for.
template <class Rule>
struct asked_too : Rule {
    milliseconds every{1};
    std::function<std::optional<finding>()> answer = [] { return std::nullopt; };

    void start() {}
    [[nodiscard]] std::optional<finding> while_waiting(const readable_trial auto& /*run*/) const { return answer(); }
    [[nodiscard]] milliseconds poll_interval() const { return every; }
};
template <class Rule>
asked_too(Rule, milliseconds, std::function<std::optional<finding>()>) -> asked_too<Rule>;

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

/// Rules during their walk over a run.
template <class Run, class... Rules>
detail::rule_drive<detail::driven<Run>> drive_of(const Run& run, const invoke_options& how,
                                                 detail::drive_listener listener, Rules... rules) {
    return {run, {std::make_shared<detail::held_rule<Rules, Run>>(std::move(rules))...}, how, std::move(listener)};
}

}  // namespace

TEST_CASE("rule_drive: all rules see a step before the next; a preparation comes before them, once a step") {
    const memory_trial run{stored({0, 3, 7}, true)};
    std::string order;
    const auto notes = [&](std::string as) {
        return named{as, [&order, as](step_number step) {
                         order += std::to_string(step) + as + " ";
                         return finding{};
                     }};
    };
    const invoke_options how;
    auto drive = drive_of(run, how, {.on_step = [&](step_number step) { order += "[" + std::to_string(step) + "] "; }},
                          notes("a"), notes("b"));
    drive.go();
    CHECK(order == "[0] 0a 0b [3] 3a 3b [7] 7a 7b ");
    const rule_outcome& outcome = drive.progress()[0].outcome;
    CHECK(outcome.evaluated == 3);
    CHECK(outcome.end == invoke_end::end_of_run);
    CHECK(outcome.next_step == 8);
}

TEST_CASE("rule_drive: each rule within its own range, and all of them within the walk's") {
    const trial_archetype run{{{0, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 1}}};
    steps_list all;
    steps_list part;
    const invoke_options how{.start_step = 2, .end_step = 8};
    auto drive = drive_of(run, how, {}, finds_at("all", {}, all), finds_at("part", {}, part));
    drive.rules()[1]->range = {3, 6};
    drive.go();
    CHECK(all == steps_list{2, 4, 6});
    CHECK(part == steps_list{4});
    CHECK(drive.progress()[0].outcome.end == invoke_end::end_step);
    CHECK(drive.progress()[0].outcome.next_step == 8);
    CHECK(drive.progress()[1].outcome.end == invoke_end::end_step);
    CHECK(drive.progress()[1].outcome.next_step == 6);
}

TEST_CASE("rule_drive: a walk ends when all rules have") {
    const trial_archetype run{{{0, 1}, {1, 1}, {2, 1}, {3, 1}}};
    steps_list early;
    steps_list late;
    std::vector<std::string> told;
    const invoke_options how{.stop_at_first = true, .first_offender = true};
    auto drive =
        drive_of(run, how,
                 {.on_finding = [&](std::size_t rule, step_number,
                                    const finding& one) { told.push_back(std::to_string(rule) + ": " + one.message); }},
                 finds_at("early", {0}, early), finds_at("late", {1, 2}, late, 3));
    drive.go();
    CHECK(early == steps_list{0});
    CHECK(late == steps_list{0, 1});
    CHECK(told == std::vector<std::string>{"0: 0", "1: 0"});
    CHECK(drive.progress()[0].outcome.end == invoke_end::first_finding);
    CHECK(drive.progress()[1].outcome.next_step == 2);
    drive.go();  // nothing is left to do
    CHECK(late == steps_list{0, 1});
}

TEST_CASE("rule_drive: a rule that throws ends alone, and throws where it is alone; what is missing skips the step") {
    const trial_archetype run{{{0, 1}, {1, 1}, {2, 1}}};
    const named lacking{"lacking", [](step_number step) -> finding {
                            if (step == 1) {
                                throw tensor_unavailable{"t"};
                            }
                            if (step == 2) {
                                throw invalid_worker{"w"};  // no step counts as skipped
                            }
                            return {};
                        }};
    steps_list skipped;
    steps_list called;
    const invoke_options how;
    auto drive = drive_of(run, how,
                          {.on_skip =
                               [&](std::size_t rule, step_number step, const error& why) {
                                   skipped.push_back(step);
                                   CHECK(rule == 0);
                                   CHECK(why.python_name() == "TensorUnavailable");
                               }},
                          lacking, finds_at("other", {}, called));
    drive.go();
    const detail::rule_progress& failed = drive.progress()[0];
    CHECK(skipped == steps_list{1});
    CHECK(failed.outcome.evaluated == 1);
    CHECK(failed.outcome.skipped == 1);
    CHECK(failed.outcome.end == invoke_end::failed);
    CHECK(failed.outcome.next_step == 2);
    CHECK_THROWS_AS(std::rethrow_exception(failed.failure), invalid_worker);
    CHECK(called == steps_list{0, 1, 2});
    CHECK_THROWS_AS(static_cast<void>(drive_of(run, how, {}, lacking).go_alone()), invalid_worker);
}

TEST_CASE("rule_drive: a rule that waits for something else in vain ends with that wait's end") {
    const trial_archetype run{{{0, 1}, {1, 1}}};
    steps_list called;
    const invoke_options how;
    auto drive = drive_of(run, how, {}, finds_at("other", {}, called),
                          named{"waits", [](step_number) -> finding {
                                    throw unavailable{error_code::timed_out, "too long"};
                                }});
    drive.go();
    CHECK(drive.progress()[1].outcome.end == invoke_end::timed_out);
    CHECK(drive.progress()[1].outcome.next_step == 0);
    CHECK_FALSE(drive.progress()[1].failure);
    CHECK(called == steps_list{0, 1});
}

TEST_CASE("rule_drive: throws the condition's exception on request") {
    const trial_archetype run{{{0, 1}, {1, 1}}};
    steps_list called;
    const invoke_options how{.raise_eval_cond = true};
    auto drive = drive_of(run, how, {}, finds_at("strict", {1}, called));
    CHECK_THROWS_AS(drive.go(), rule_evaluation_condition_met);
    CHECK(called == steps_list{0, 1});
}

TEST_CASE("rule_drive: polled rules are polled while a step is waited for, until the timeout") {
    const memory_trial run{stored({0}, false), {.poll_interval = milliseconds{1}}};
    int asked = 0;
    steps_list called;
    const asked_too watching{
        finds_at("asked", {}, called), milliseconds{1},
        [&] { return ++asked == 2 ? std::optional{finding{.met = true, .message = "stalled"}} : std::nullopt; }};
    const invoke_options in_time{.timeout = milliseconds{20}};
    auto drive = drive_of(run, in_time, {}, watching, finds_at("not asked", {}, called));
    drive.go();
    const rule_outcome& outcome = drive.progress()[0].outcome;
    CHECK(asked >= 2);
    CHECK(called == steps_list{0, 0});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].rule == "asked");
    CHECK(outcome.findings[0].step == 0);
    CHECK(outcome.end == invoke_end::timed_out);
    CHECK(drive.progress()[1].outcome.end == invoke_end::timed_out);
    CHECK(outcome.next_step == 1);
    asked = 0;
    const invoke_options to_first{.stop_at_first = true};  // no timeout: the finding ends it
    CHECK(drive_of(run, to_first, {}, watching).go_alone().end == invoke_end::first_finding);
    CHECK(asked == 2);
}

TEST_CASE("rule_drive: a rule that throws when it is polled ends alone; a finding has the rule's own name") {
    const memory_trial run{stored({0}, false), {.poll_interval = milliseconds{1}}};
    steps_list called;
    const asked_too broken{finds_at("broken", {}, called), milliseconds{1},
                           []() -> std::optional<finding> { throw std::runtime_error("no clock"); }};
    const asked_too watching{finds_at("asked", {}, called), milliseconds{1},
                             [] { return std::optional{finding{.met = true}}; }};
    const invoke_options how{.stop_at_first = true};
    auto drive = drive_of(run, how, {}, broken, watching);
    drive.rules()[1]->name = "in reports";
    drive.go();
    CHECK(drive.progress()[0].outcome.end == invoke_end::failed);
    CHECK_THROWS_WITH_AS(std::rethrow_exception(drive.progress()[0].failure), "no clock", std::runtime_error);
    REQUIRE(drive.progress()[1].outcome.findings.size() == 1);
    CHECK(drive.progress()[1].outcome.findings[0].rule == "asked");
    CHECK_THROWS_AS(static_cast<void>(drive_of(run, how, {}, broken).go_alone()), std::runtime_error);
}

TEST_CASE("rule_drive: the rule that wants to be asked most often decides how often") {
    const trial_archetype run{{{0, 1}}};
    steps_list called;
    const auto watching = [&](int every) {
        return asked_too{finds_at("asked", {}, called), milliseconds{every}, [] { return std::optional<finding>{}; }};
    };
    const invoke_options how;
    CHECK_FALSE(drive_of(run, how, {}, finds_at("not asked", {}, called)).poll_interval().has_value());
    auto drive = drive_of(run, how, {}, watching(50), finds_at("not asked", {}, called), watching(20));
    CHECK(drive.poll_interval() == milliseconds{20});
    drive.rules()[2]->range = {0, 0};
    drive.visit(0);
    CHECK(drive.progress()[2].over);
    CHECK(drive.poll_interval() == milliseconds{50});
    drive.end_all(invoke_end::stopped, 5);
    CHECK(drive.all_over());
    CHECK(drive.progress()[0].outcome.end == invoke_end::stopped);
    CHECK(drive.progress()[2].outcome.end == invoke_end::end_step);  // it had ended before
}

namespace {

/// A rule with invalid settings.
template <class Rule>
struct refused : Rule {
    void check() const { throw value_error{"the setting is wrong"}; }
};
template <class Rule>
refused(Rule) -> refused<Rule>;

}  // namespace

TEST_CASE("rule_drive: a rule whose settings are refused is over before the first step, and the others go on") {
    const trial_archetype run{{{0, 1}, {1, 1}}};
    steps_list of_refused;
    steps_list of_other;
    const invoke_options how{.start_step = 1};
    auto drive = drive_of(run, how, {}, refused{finds_at("refused", {}, of_refused)}, finds_at("other", {}, of_other));
    const detail::rule_progress& wrong = drive.progress()[0];
    CHECK(wrong.over);
    CHECK(wrong.outcome.end == invoke_end::failed);
    CHECK(wrong.outcome.next_step == 1);
    CHECK_THROWS_AS(std::rethrow_exception(wrong.failure), value_error);
    drive.go();
    CHECK(of_refused.empty());
    CHECK(of_other == steps_list{1});
}

TEST_CASE("rule_drive: no rule is polled while there are steps, nor after its end") {
    const memory_trial run{stored({0, 1, 2}, true), {.poll_interval = milliseconds{1}}};
    int first = 0;
    int second = 0;
    steps_list called;
    const auto counts = [&](int& asked) {
        return asked_too{finds_at("asked", {}, called), milliseconds{1}, [&asked] {
                             ++asked;
                             return std::optional<finding>{};
                         }};
    };
    const invoke_options how{.timeout = milliseconds{100}};
    auto drive = drive_of(run, how, {}, counts(first), counts(second));
    drive.go();
    CHECK(called.size() == 6);
    CHECK(first == 0);

    auto by_hand = drive_of(run, how, {}, counts(first), counts(second));
    by_hand.rules()[0]->range = {0, 1};
    by_hand.visit(1);
    REQUIRE(by_hand.progress()[0].over);
    by_hand.idle(2);
    CHECK(first == 0);
    CHECK(second == 1);
}

TEST_CASE("rule_drive: counts what a rule looked up in a trial that is observed, the same record once") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : {4, 5}) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}, .mode = mode::eval, .mode_step = step - 4});
    }
    build.end();
    store.write(smdebug::detail::locations::event_key(5, "worker_0"), as_bytes("damaged"));
    const memory_trial plain{store};
    memory_trial run{plain};
    smdebug::detail::trial_access::share_with_rules(
        run, smdebug::detail::view_for_rules(smdebug::detail::state_of(run), nullptr));
    const auto by_both_numbers = [](const readable_trial auto& seen, step_number step) -> finding {
        const auto w = seen.tensor("w");
        static_cast<void>(w.find_value(step));
        static_cast<void>(w.find_value(step - 4, {.mode = mode::eval}));
        return {};
    };
    const invoke_options how;
    const rule_outcome outcome = drive_of(run, how, {}, by_both_numbers).go_alone();
    CHECK(outcome.evaluated == 2);
    CHECK(outcome.tensors == 2);
    CHECK(outcome.unread == 1);
    CHECK(outcome.first_unread.find("000000000005_worker_0.tfevents") != std::string::npos);
}

namespace {

/// Notes the steps that the driver announces, and how often it requests all of them.
struct told_trial : trial_archetype {
    using trial_archetype::trial_archetype;
    mutable steps_list told = {};
    mutable int asked = 0;
    void read_ahead(step_number step) const { told.push_back(step); }
    [[nodiscard]] steps_list steps(const steps_options& which) const {
        ++asked;
        return trial_archetype::steps(which);
    }
};

}  // namespace

static_assert(detail::waits_for_steps<memory_trial> && !detail::waits_for_steps<trial_archetype>);
static_assert(detail::reads_steps_ahead<told_trial> && !detail::reads_steps_ahead<trial_archetype>);

TEST_CASE("rule_drive: the saved steps from any number on are requested in bulk") {
    for (const step_number first : {0, 1, 4, 11, 12}) {
        const told_trial run{{{0, 1}, {3, 1}, {10, 1}, {11, 1}}};
        steps_list called;
        const auto rule = finds_at("rule", {}, called);
        const invoke_options how{.start_step = first};
        CHECK(drive_of(run, how, {}, rule).go_alone().end == invoke_end::end_of_run);
        steps_list expected{0, 3, 10, 11};
        std::erase_if(expected, [&](step_number step) { return step < first; });
        CHECK(called == expected);
        CHECK(run.asked == (expected.empty() ? 1 : 2));  // at first, and after the last
    }
}

TEST_CASE("rule_drive: announces the next four steps to a trial, each once, and none from the end on") {
    const told_trial run{{{0, 1}, {2, 1}, {4, 1}, {6, 1}, {8, 1}, {10, 1}, {12, 1}}};
    std::vector<steps_list> told;
    const named rule{"rule", [&](step_number) {
                         told.push_back(run.told);
                         return finding{};
                     }};
    const invoke_options how{.end_step = 11};
    static_cast<void>(drive_of(run, how, {}, rule).go_alone());
    REQUIRE(told.size() == 6);
    CHECK(told[0] == steps_list{2, 4, 6, 8});
    CHECK(told[1] == steps_list{2, 4, 6, 8, 10});
    CHECK(run.told == steps_list{2, 4, 6, 8, 10});
}

TEST_CASE("rule_drive: finds steps that came after it had walked all that it knew, when the wait has seen them") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : {0, 1}) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}});
    }
    const memory_trial run{store};
    steps_list called;
    const named rule{"rule", [&](step_number step) {
                         called.push_back(step);
                         if (step == 1) {
                             run_builder{store}.step({.step = 2, .tensors = {tensor_of<float>("w", {1})}}).end();
                         }
                         return finding{};
                     }};
    const invoke_options how;
    CHECK(drive_of(run, how, {}, rule).go_alone().end == invoke_end::end_of_run);
    CHECK(called == steps_list{0, 1, 2});
}
