#include <smdebug/rules/invoke_rules.hpp>

#include "support/archetypes.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;
using namespace std::chrono_literals;
using steps_list = std::vector<step_number>;

namespace {

// Meets its condition if the tensor "a" has a mean above a threshold; requires "a".
struct mean_above {
    double threshold = 2;
    steps_list called = {};

    [[nodiscard]] static constexpr std::string_view name() { return "mean_above"; }
    template <class Trial>
    void require(const Trial&, step_number step, required_tensors<Trial>& required) const {
        required.add("a", {step});
    }
    finding operator()(const readable_trial auto& trial, step_number step) {
        called.push_back(step);
        const double mean = trial.tensor("a").reduction_value(step, reduction::mean);
        return {.met = mean > threshold, .tensor = "a", .value = mean, .threshold = threshold, .message = "too high"};
    }
};

written_step with_a(step_number step, float value) {
    return {.step = step, .tensors = {tensor_of<float>("a", {value})}};
}

// Steps 0 (1), 10 (3), 20 (no a), 1'000'000'000 (5).
memory_storage sample(bool ended = true) {
    memory_storage store;
    run_builder build{store};
    build.collections()
        .step(with_a(0, 1))
        .step(with_a(10, 3))
        .step({.step = 20, .tensors = {tensor_of<float>("b", {9})}})
        .step(with_a(1'000'000'000, 5));
    if (ended) {
        build.end();
    }
    return store;
}

}  // namespace

TEST_CASE("invoke_rule: calls the rule at every saved step, skips what lacks something, ends with the run") {
    const memory_trial run{sample()};
    mean_above rule;
    steps_list skipped;
    const auto outcome = invoke_rule(rule, run, {.on_skip = [&](step_number step, const error& why) {
                                         skipped.push_back(step);
                                         CHECK(why.python_name() == "TensorUnavailableForStep");
                                     }});
    CHECK(rule.called == steps_list{0, 10, 1'000'000'000});
    CHECK(outcome.met_at == steps_list{10, 1'000'000'000});
    CHECK(outcome.findings.back().step == outcome.met_at.back());
    REQUIRE(outcome.findings.size() == 2);
    CHECK(outcome.findings[0].value == 3);
    CHECK(outcome.evaluated == 3);
    CHECK(outcome.skipped == 1);
    CHECK(skipped == steps_list{20});
    CHECK(outcome.end == invoke_end::end_of_run);
    CHECK(outcome.next_step == 1'000'000'001);
    CHECK(run.dynamic_refresh());
}

TEST_CASE("invoke_rule: notes are in the outcome, the first of them, and change no status") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    const auto most = static_cast<step_number>(rule_outcome::most_notes);
    for (step_number step = 0; step < most + 5; ++step) {
        build.step(with_a(step, 1));
    }
    build.end();
    std::size_t told = 0;
    const auto outcome = invoke_rule([](const readable_trial auto& /*run*/,
                                        step_number step) { return finding::note("seen " + std::to_string(step)); },
                                     memory_trial{store}, {.on_note = [&](step_number, const finding&) { ++told; }});
    CHECK(told == rule_outcome::most_notes + 5);
    REQUIRE(outcome.notes.size() == rule_outcome::most_notes);
    CHECK(outcome.notes[7].message == "seen 7");
    CHECK(outcome.notes[7].step == 7);
    CHECK(outcome.met_at.empty());
    CHECK(outcome.findings.empty());
    CHECK(outcome.unread == 0);
    CHECK(status_of(outcome) == rule_status::no_issues_found);
}

TEST_CASE("invoke_rule: start is inclusive, end is not") {
    const memory_trial run{sample()};
    CHECK(invoke_rule(mean_above{}, run, {.start_step = 10, .end_step = 1'000'000'000}).met_at == steps_list{10});
    CHECK(invoke_rule(mean_above{}, run, {.start_step = 11, .end_step = 1'000'000'001}).met_at ==
          steps_list{1'000'000'000});
    const auto none = invoke_rule(mean_above{}, run, {.start_step = 5, .end_step = 5});
    CHECK(none.evaluated == 0);
    CHECK(none.end == invoke_end::end_step);
    CHECK(invoke_rule(mean_above{}, run, {.end_step = 2'000'000'000}).end == invoke_end::end_of_run);
}

TEST_CASE("invoke_rule: stops at the first, or throws there, if asked to") {
    const memory_trial run{sample()};
    const auto outcome = invoke_rule(mean_above{}, run, {.stop_at_first = true});
    CHECK(outcome.met_at == steps_list{10});
    CHECK(outcome.end == invoke_end::first_finding);
    CHECK(outcome.next_step == 11);
    const rule_evaluation_condition_met thrown =
        caught<rule_evaluation_condition_met>([&] { invoke_rule(mean_above{}, run, {.raise_eval_cond = true}); });
    CHECK(thrown.step() == 10);
    CHECK(thrown.rule() == "mean_above");
    CHECK(std::string{thrown.what()}.ends_with("resulted in the condition being met: too high"));
    CHECK(run.dynamic_refresh());
}

TEST_CASE("invoke_rule: keeps up with a growing run and ends when the job does") {
    memory_storage store = sample(false);
    const memory_trial run{store, {.poll_interval = 1ms}};
    std::vector<step_number> seen;
    const std::jthread writer{[&] {
        run_builder build{store};
        for (step_number step = 1'000'000'001; step < 1'000'000'006; ++step) {
            std::this_thread::sleep_for(5ms);
            build.step(with_a(step, 7));
        }
        build.end();
    }};
    const auto outcome =
        invoke_rule(mean_above{}, run,
                    {.timeout = 60s, .on_finding = [&](step_number step, const finding&) { seen.push_back(step); }});
    CHECK(outcome.end == invoke_end::end_of_run);
    CHECK(outcome.met_at.size() == 7);
    CHECK(seen == outcome.met_at);
}

TEST_CASE("invoke_rule: comes back when no new step comes in time, or when it is stopped, with what it has found") {
    const memory_trial run{sample(false), {.poll_interval = 1ms}};
    const auto late = invoke_rule(mean_above{}, run, {.timeout = 5ms});
    CHECK(late.end == invoke_end::timed_out);
    CHECK(late.met_at.size() == 2);
    std::stop_source source;
    const auto outcome = invoke_rule(
        mean_above{}, run,
        {.stop = source.get_token(), .on_finding = [&](step_number, const finding&) { source.request_stop(); }});
    CHECK(outcome.end == invoke_end::stopped);
    CHECK(outcome.met_at == steps_list{10});
}

TEST_CASE("invoke_rule: what a rule throws that does not mean 'not there' comes out, and refreshing is as before") {
    const memory_trial run{sample()};
    const auto broken = [](const memory_trial&, step_number) -> finding { throw std::runtime_error("a bug"); };
    CHECK_THROWS_AS(invoke_rule(broken, run), std::runtime_error);
    CHECK(run.dynamic_refresh());
}

TEST_CASE("invoke_rule: notes are handed over apart from findings, empty answers are nothing") {
    const memory_trial run{sample()};
    std::vector<std::string> notes;
    const auto noting = [](const memory_trial&, step_number step) -> std::vector<finding> {
        return {finding{}, finding{.message = "note " + std::to_string(step)}, finding{.met = step == 10}};
    };
    const auto outcome = invoke_rule(noting, run, {.end_step = 20, .on_note = [&](step_number, const finding& note) {
                                                       notes.push_back(note.message);
                                                   }});
    CHECK(notes == std::vector<std::string>{"note 0", "note 10"});
    CHECK(outcome.met_at == steps_list{10});
    CHECK(outcome.findings.size() == 1);
}

TEST_CASE("invoke_rule: runs over a trial that is no more than readable") {
    const trial_archetype run{{{0, 1}, {4, 5}}};
    const auto outcome = invoke_rule(mean_above{}, run, {});
    CHECK(outcome.met_at == steps_list{4});
    CHECK(outcome.evaluated == 2);
    CHECK(outcome.end == invoke_end::end_of_run);
}

TEST_CASE("invoke_rule: several threads run rules over one trial, and refreshing is on again at the end") {
    const memory_trial run{sample()};
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) {
            threads.emplace_back([&] {
                for (int round = 0; round < 20; ++round) {
                    invoke_rule(mean_above{}, run);
                }
            });
        }
    }
    CHECK(run.dynamic_refresh());
}

TEST_CASE("invoke_rule: lists a running job once for the steps that it knows, not once a step") {
    struct counting : memory_storage {
        using memory_storage::memory_storage;
        std::shared_ptr<int> listings = std::make_shared<int>(0);
        [[nodiscard]] std::vector<std::string> list(std::string_view prefix, std::string_view after) const {
            ++*listings;
            return memory_storage::list(prefix, after);
        }
    };
    counting store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 100; ++step) {
        build.step(with_a(step, 1));
    }
    const basic_trial<counting> run{store, {.poll_interval = 1ms}};
    *store.listings = 0;
    CHECK(invoke_rule(mean_above{}, run, {.timeout = 0ms}).evaluated == 100);
    CHECK(*store.listings < 10);
}

TEST_CASE("invoke_rule: what another trial lacks skips the step, it does not end the run") {
    struct leans_on_other {
        const memory_trial* other;
        finding operator()(const memory_trial&, step_number step) const {
            other->wait_for_steps({step + 1'000'000'000'000});
            return {};
        }
    };
    const memory_trial run{sample()};
    const memory_trial other{sample()};
    const auto outcome = invoke_rule(leans_on_other{&other}, run);
    CHECK(outcome.end == invoke_end::end_of_run);
    CHECK(outcome.skipped == 4);
}

TEST_CASE("invoke_rule: a rule that compares runs holds them, and none of them refreshes during a call") {
    struct differs {
        const memory_trial* other;
        [[nodiscard]] auto other_trials() const { return std::tie(*other); }
        finding operator()(const memory_trial& base, step_number step) const {
            CHECK_FALSE(other->dynamic_refresh());
            CHECK_FALSE(base.dynamic_refresh());
            const auto theirs = other->tensor("a").find_reduction(step, reduction::mean);
            const auto ours = base.tensor("a").find_reduction(step, reduction::mean);
            return {.met = ours && theirs && *ours != *theirs};
        }
    };
    memory_storage store;
    run_builder{store}.collections().step(with_a(0, 1)).step(with_a(10, 4)).end();
    const memory_trial other{store};
    const memory_trial run{sample()};
    CHECK(compares_trials<differs>);
    CHECK_FALSE(compares_trials<mean_above>);
    CHECK(invoke_rule(differs{&other}, run).met_at == steps_list{10});
    CHECK(other.dynamic_refresh());
    CHECK(run.dynamic_refresh());
}

namespace {

/// Says at the end of a walk what it has not looked at.
struct concluding {
    int* concluded;
    [[nodiscard]] static std::string name() { return "concluding"; }
    [[nodiscard]] bool operator()(const readable_trial auto& /*run*/, step_number step) const { return step == 4; }
    [[nodiscard]] std::vector<finding> conclude(const readable_trial auto& /*run*/) const {
        ++*concluded;
        return {finding::note("the end"), finding{}};
    }
};

}  // namespace

TEST_CASE("invoke_rule: a rule's notes at the end of a walk, once, unless that was ended early") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : {0, 2, 4}) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}});
    }
    build.end();
    const memory_trial run{store};
    static_assert(concluding_rule<concluding, trial>);
    int concluded = 0;
    const rule_outcome whole = invoke_rule(concluding{&concluded}, run);
    CHECK(concluded == 1);
    REQUIRE(whole.notes.size() == 1);
    CHECK(whole.notes[0].message == "the end");
    CHECK(whole.notes[0].step == 4);
    CHECK(whole.notes[0].rule == "concluding");
    CHECK(whole.evaluated == 3);
    CHECK(whole.met_at == steps_list{4});
    CHECK(invoke_rule(concluding{&concluded}, run, {.end_step = 3}).notes[0].step == 2);
    CHECK(concluded == 2);
    CHECK(invoke_rule(concluding{&concluded}, run, {.stop_at_first = true}).notes.empty());
    CHECK(invoke_rule(concluding{&concluded}, run, {.start_step = 9}).notes.empty());
    CHECK(concluded == 2);
    auto limited = any_rule<trial>{concluding{&concluded}};
    limited.limit({.begin = 0, .end = 1});
    CHECK(invoke_rules(static_cast<const trial&>(run), {limited})[0].outcome.notes[0].step == 0);
    CHECK(concluded == 3);
    const invoke_rules_options refusing{
        .on_note = [](std::size_t, const finding&) { throw std::runtime_error("no listener"); }};
    CHECK_THROWS_WITH_AS(static_cast<void>(invoke_rules(run, refusing, concluding{&concluded})), "no listener",
                         std::runtime_error);  // the caller's own, not the rule's failure
}

namespace {

/// Has compared a number with a range in healthy runs.
struct banded {
    int* asked;
    [[nodiscard]] bool operator()(const readable_trial auto& /*run*/, step_number /*step*/) const { return false; }
    [[nodiscard]] std::vector<rule_outcome::band> bands() const {
        ++*asked;
        return {{.tensor = "w", .number = "l2", .windows = {{.last = 4, .runs = 8, .least = 1, .greatest = 2}}}};
    }
};

}  // namespace

TEST_CASE("invoke_rule: a rule's bands, only where the options want them, and however the walk ends") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step({.step = 0, .tensors = {tensor_of<float>("w", {1})}});
    build.end();
    const memory_trial run{store};
    static_assert(banded_rule<banded>);
    static_assert(!banded_rule<concluding>);
    int asked = 0;
    int concluded = 0;
    CHECK(invoke_rule(banded{&asked}, run).bands.empty());
    CHECK(asked == 0);
    const rule_outcome outcome = invoke_rule(banded{&asked}, run, {.keep_bands = true});
    CHECK(asked == 1);
    REQUIRE(outcome.bands.size() == 1);
    CHECK(outcome.bands[0].windows[0].runs == 8);
    const std::vector<any_rule<trial>> both{any_rule<trial>{banded{&asked}}, any_rule<trial>{concluding{&concluded}}};
    CHECK(invoke_rules(static_cast<const trial&>(run), both)[0].outcome.bands.empty());
    std::stop_source stop;
    stop.request_stop();
    const auto results =
        invoke_rules(static_cast<const trial&>(run), both, {.common = {.stop = stop.get_token(), .keep_bands = true}});
    CHECK(results[0].outcome.bands.size() == 1);
    CHECK(results[1].outcome.bands.empty());
}
