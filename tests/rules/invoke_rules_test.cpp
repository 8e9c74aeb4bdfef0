#include <smdebug/rules/invoke_rules.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/stalled_training.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using steps_list = std::vector<step_number>;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

void build(memory_storage& store, bool ended = true) {
    run_builder make{store};
    make.collections({"worker_0"}, {{"gradients", {"g"}}});
    for (step_number step = 0; step < 6; ++step) {
        make.step({.step = step,
                   .tensors = {tensor_of<float>("g", {step % 2 == 0 ? 1.0F : 1e-9F}),
                               tensor_of<float>("x", {step == 4 ? inf : 1})}});
    }
    if (ended) {
        make.end();
    }
}

/// Counts its calls; has a finding at one step.
struct counting_rule {
    step_number at = 0;
    std::size_t calls = 0;
    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& run, step_number step) {
        ++calls;
        std::vector<finding> found;
        if (step == at) {
            for (const std::string& name : run.tensor_names({.step = step})) {
                found.push_back({.met = true, .tensor = name, .message = "here"});
            }
        }
        return found;
    }
};

struct thrower {
    step_number at = 0;
    [[nodiscard]] static constexpr std::string_view name() { return "thrower"; }
    [[nodiscard]] finding operator()(const readable_trial auto& /*run*/, step_number step) const {
        return step >= at ? throw std::runtime_error("enough") : finding{};
    }
};

struct misconfigured {
    [[nodiscard]] finding operator()(const readable_trial auto& /*run*/, step_number /*step*/) const { return {}; }
    void check() const { throw value_error("limit must be positive, not -1"); }
};

/// Names the type of its trial in require().
struct requires_of_stored {
    static void require(const memory_trial& /*run*/, step_number step, required_tensors<memory_trial>& required) {
        required.add("late", {step});
    }
    [[nodiscard]] finding operator()(const readable_trial auto& /*run*/, step_number /*step*/) const { return {}; }
};

}  // namespace

TEST_CASE("invoke_rules: finds what each rule finds alone, in one walk") {
    memory_storage store;
    build(store);
    const memory_trial run{store};
    const auto results = invoke_rules(run, {}, rules::exploding_tensor{}, rules::vanishing_gradient{});
    REQUIRE(results.size() == 2);
    const auto exploding = invoke_rule(rules::exploding_tensor{}, run);
    const auto vanishing = invoke_rule(rules::vanishing_gradient{}, run);
    CHECK(results[0].name == "exploding_tensor");
    CHECK(results[0].outcome.met_at == exploding.met_at);
    CHECK(results[0].outcome.met_at == steps_list{4});
    CHECK(results[1].outcome.met_at == vanishing.met_at);
    CHECK(results[1].outcome.met_at == steps_list{1, 3, 5});
    CHECK(results[1].outcome.findings[2].value == vanishing.findings[2].value);
    CHECK(results[1].outcome.findings[2].message == vanishing.findings[2].message);
    CHECK(results[1].outcome.findings[2].step == 5);
    CHECK(results[1].outcome.findings[2].rule == "vanishing_gradient");
    CHECK(results[1].outcome.findings[2].mode == mode::train);
    CHECK(results[1].outcome.met_at.size() == 3);
    CHECK(results[1].parameters.at("threshold") == "1e-07");
    CHECK(results[1].status == rule_status::issues_found);
}

TEST_CASE("invoke_rules: a rule that throws or makes no sense fails with its reason; the others go on") {
    memory_storage store;
    build(store);
    const memory_trial run{store};
    counting_rule counts{.at = 5};
    const auto results = invoke_rules(run, {}, thrower{.at = 2}, counts, misconfigured{});
    REQUIRE(results.size() == 3);
    CHECK(results[0].outcome.end == invoke_end::failed);
    CHECK(results[0].failure == "enough");
    CHECK(results[0].outcome.evaluated == 2);
    CHECK(results[0].outcome.next_step == 2);
    CHECK(results[0].status == rule_status::error);
    CHECK(results[0].details == "enough");
    CHECK(counts.calls == 6);
    CHECK(results[1].outcome.met_at == steps_list{5});
    CHECK(results[2].outcome.end == invoke_end::failed);
    CHECK(results[2].outcome.evaluated == 0);
    CHECK(results[2].failure.find("limit must be positive") != std::string::npos);
}

TEST_CASE("invoke_rules: each rule stops at its own first finding, of which the first offender may be enough") {
    memory_storage store;
    build(store);
    const memory_trial run{store};
    counting_rule early{.at = 1};
    counting_rule late{.at = 3};
    invoke_rules_options how{.common = {.stop_at_first = true, .first_offender = true}};
    std::vector<std::size_t> told;
    how.on_finding = [&](std::size_t which, const finding& one) {
        told.push_back(which);
        CHECK(one.tensor == "g");
    };
    const auto results = invoke_rules(run, how, early, late);
    CHECK(early.calls == 2);
    CHECK(late.calls == 4);
    CHECK(told == std::vector<std::size_t>{0, 1});
    CHECK(results[0].outcome.end == invoke_end::first_finding);
    CHECK(results[0].outcome.next_step == 2);
    CHECK(results[1].outcome.next_step == 4);
    CHECK(results[0].outcome.findings.size() == 1);
    counting_rule all{.at = 1};
    CHECK(invoke_rules(run, {}, all)[0].outcome.findings.size() == 2);
}

TEST_CASE("invoke_rules: works over part of a run that goes on") {
    memory_storage store;
    build(store, false);
    const memory_trial run{store};
    const auto part = invoke_rules(run, {.common = {.start_step = 1, .end_step = 4}}, rules::vanishing_gradient{});
    CHECK(part[0].outcome.met_at == steps_list{1, 3});
    CHECK(part[0].outcome.end == invoke_end::end_step);
    CHECK(part[0].outcome.next_step == 4);
    const auto waited = invoke_rules(run, {.common = {.timeout = std::chrono::milliseconds{1}}}, thrower{.at = 100});
    CHECK(waited[0].outcome.end == invoke_end::timed_out);
    CHECK(waited[0].outcome.evaluated == 6);
}

namespace {

/// A clock that a test sets, and a rule that reads it.
struct set_clock {
    std::chrono::steady_clock::time_point now{std::chrono::seconds{1000}};
    [[nodiscard]] rules::stalled_training rule(double threshold) {
        return {.threshold = threshold, .clock = [this] { return now; }};
    }
};

any_rule<memory_trial> any_of(const auto& rule) { return any_rule<memory_trial>{rule}; }

}  // namespace

TEST_CASE(
    "invoke_rules: a rule that watches the clock is polled while waiting for a growing run; one finding a stall") {
    memory_storage store;
    build(store, false);
    const memory_trial run{store, {.poll_interval = std::chrono::milliseconds{1}}};
    set_clock time;
    // Each call advances the clock by five seconds, until the job continues.
    int asked = 0;
    rules::stalled_training watching{.threshold = 0.02, .clock = [&] {
                                         ++asked;
                                         return time.now += std::chrono::milliseconds{5};
                                     }};
    counting_rule counts{.at = 100};
    std::vector<finding> told;
    invoke_rules_options how{.common = {.timeout = std::chrono::minutes{1}}};
    how.on_finding = [&](std::size_t which, const finding& one) {
        CHECK(which == 0);
        told.push_back(one);
        run_builder more{store};
        if (told.size() == 1) {
            more.step({.step = 6, .tensors = {tensor_of<float>("g", {1})}});
        } else {
            more.end();
        }
    };
    const auto results = invoke_rules(run, how, watching, counts);
    REQUIRE(told.size() == 2);
    CHECK(told[0].rule == "stalled_training");
    CHECK(told[0].step == 5);
    CHECK(told[0].mode == mode::train);
    CHECK(told[0].value > 0.02);
    CHECK(told[1].step == 6);
    CHECK(counts.calls == 7);
    CHECK(results[0].outcome.end == invoke_end::end_of_run);
    CHECK(results[0].outcome.met_at == steps_list{5, 6});
    CHECK(results[0].status == rule_status::issues_found);
}

TEST_CASE("invoke_rules: workers that save different tensors are seen as the rules want to see them") {
    memory_storage store;
    run_builder make{store};
    make.collections({"worker_0", "worker_1"}, {{"gradients", {"g"}}});
    for (step_number step = 0; step < 4; ++step) {
        make.step({.step = step, .tensors = {tensor_of<float>("g", {1})}});
        make.step({.step = step, .tensors = {tensor_of<float>("g", {step == 2 ? inf : 1e-9F})}, .worker = "worker_1"});
    }
    make.end();
    const memory_trial run{store};
    const auto results = invoke_rules(run, {}, rules::exploding_tensor{}, rules::exploding_tensor{.all_workers = true},
                                      rules::vanishing_gradient{.all_workers = true});
    CHECK(results[0].outcome.met_at.empty());
    CHECK(results[1].outcome.met_at == steps_list{2});
    CHECK(results[1].outcome.findings[0].worker == "worker_1");
    CHECK(results[2].outcome.met_at == steps_list{0, 1, 3});

    CHECK(results[0].outcome.other_workers == 1);
    CHECK(results[0].status == rule_status::no_issues_found);
    CHECK(results[0].details == "only 1 of 2 workers was checked; all_workers=true checks all");
    CHECK(results[1].outcome.other_workers == 0);
    CHECK_FALSE(results[1].details.ends_with("looks at all"));
}

TEST_CASE("invoke_rules: rules of one type with their own names, parameters and steps") {
    memory_storage store;
    build(store);
    const memory_trial run{store};
    auto early = any_of(rules::vanishing_gradient{});
    auto late = any_of(rules::vanishing_gradient{.threshold = 2});
    early.limit({0, 2});
    late.rename("late");
    late.limit({4, {}});
    const auto results = invoke_rules(run, {early, late}, {.common = {.end_step = 5}});
    CHECK(results[0].outcome.met_at == steps_list{1});
    CHECK(results[0].outcome.evaluated == 2);
    CHECK(results[0].outcome.end == invoke_end::end_step);
    CHECK(results[0].outcome.next_step == 2);
    CHECK(results[1].name == "late");
    CHECK(results[1].name == "late");
    CHECK(results[1].outcome.met_at == steps_list{4});
    CHECK(results[1].outcome.next_step == 5);
}

TEST_CASE("rule_session: goes on a step at a time, and says how it stands in between") {
    memory_storage store;
    build(store, false);
    const memory_trial run{store};
    std::vector<step_number> begun;
    rule_session<memory_trial> session{
        run,
        {any_of(rules::exploding_tensor{}), any_of(rules::vanishing_gradient{})},
        {.common = {.stop_at_first = true}, .on_step = [&](step_number step) { begun.push_back(step); }}};
    CHECK_FALSE(session.poll_interval().has_value());
    session.visit(0);
    CHECK(session.results()[1].status == rule_status::no_issues_found);
    session.visit(1);
    CHECK(session.results()[0].outcome.evaluated == 2);
    CHECK(session.results()[1].outcome.end == invoke_end::first_finding);
    CHECK_FALSE(session.over());
    session.visit(3);
    session.idle(4);  // no rule is polled
    CHECK(begun == steps_list{0, 1, 3});
    session.end(invoke_end::stopped, 4);
    CHECK(session.over());
    session.visit(4);  // comes too late
    const auto results = session.results();
    CHECK(results[0].outcome.end == invoke_end::stopped);
    CHECK(results[0].outcome.next_step == 4);
    CHECK(results[0].outcome.met_at.empty());
    CHECK(results[0].status == rule_status::stopped);
    CHECK(results[1].outcome.next_step == 2);
    CHECK(results[1].outcome.evaluated == 2);
}

TEST_CASE("rule_session: rules that watch the clock are polled when its owner is idle") {
    memory_storage store;
    build(store, false);
    const memory_trial run{store};
    set_clock time;
    rule_session<memory_trial> session{run, {any_of(time.rule(10)), any_of(time.rule(100))}};
    CHECK(session.poll_interval() == std::chrono::milliseconds{1000});
    session.visit(0);
    session.idle(1);
    CHECK(session.results()[0].outcome.findings.empty());
    time.now += std::chrono::seconds{11};
    session.idle(1);
    session.idle(1);
    auto results = session.results();
    REQUIRE(results[0].outcome.findings.size() == 1);
    CHECK(results[0].outcome.findings[0].step == 0);
    CHECK(results[0].outcome.next_step == 1);
    CHECK(results[1].outcome.findings.empty());
    session.visit(1);
    time.now += std::chrono::seconds{101};
    session.idle(2);
    results = session.results();
    CHECK(results[0].outcome.met_at == steps_list{0, 1});
    CHECK(results[1].outcome.met_at == steps_list{1});
}

TEST_CASE("invoke_rules: a stop ends all rules between two steps") {
    memory_storage store;
    build(store, false);
    const memory_trial run{store};
    std::stop_source stop;
    counting_rule counts{.at = 100};
    invoke_rules_options how{.common = {.stop = stop.get_token()}};
    how.on_step = [&](step_number step) {
        if (step == 2) {
            stop.request_stop();
        }
    };
    const auto results = invoke_rules(run, how, counts, rules::exploding_tensor{});
    CHECK(counts.calls == 3);
    for (const rule_result& each : results) {
        CHECK(each.outcome.end == invoke_end::stopped);
        CHECK(each.outcome.next_step == 3);
    }
    CHECK(invoke_rules(run, std::vector<any_rule<memory_trial>>{}).empty());
}

TEST_CASE("invoke_rules: data that a rule lacks at a step is reported with the rule's place") {
    memory_storage store;
    build(store);
    const memory_trial run{store};
    const auto lacking = [](const auto& trial, step_number step) -> finding {
        static_cast<void>(trial.tensor(step == 1 ? "nothing" : "g"));
        return {.message = step == 0 ? "a note" : ""};
    };
    steps_list skipped;
    std::vector<std::string> notes;
    invoke_rules_options how;
    how.on_skip = [&](std::size_t which, step_number step, const error& why) {
        CHECK(which == 1);
        CHECK(why.python_name() == "TensorUnavailable");
        skipped.push_back(step);
    };
    how.on_note = [&](std::size_t which, const finding& note) {
        CHECK(which == 1);
        notes.push_back(note.message);
    };
    const auto results = invoke_rules(run, {any_of(counting_rule{.at = 100}), any_of(lacking)}, how);
    CHECK(skipped == steps_list{1});
    CHECK(notes == std::vector<std::string>{"a note"});
    CHECK(results[1].outcome.skipped == 1);
    CHECK(results[1].outcome.evaluated == 5);
    CHECK(results[1].name == "rule");
}

TEST_CASE("invoke_rules: the requirements of a rule that names its trial's type are respected, as by invoke_rule") {
    memory_storage store;
    run_builder make{store};
    make.collections();
    for (step_number step = 0; step < 4; ++step) {
        make.step({.step = step, .tensors = {tensor_of<float>(step < 3 ? "early" : "late", {1})}});
    }
    make.end();
    const memory_trial run{store};
    const rule_outcome alone = invoke_rule(requires_of_stored{}, run);
    CHECK(alone.skipped == 3);
    const auto results = invoke_rules(run, {}, requires_of_stored{});
    CHECK(results[0].outcome.skipped == alone.skipped);
    CHECK(results[0].outcome.evaluated == alone.evaluated);
}

TEST_CASE("invoke_rules: what a listener throws is the caller's, not the rule's failure") {
    memory_storage store;
    build(store);
    const memory_trial run{store};
    const auto lacks = [](const readable_trial auto& of, step_number) -> finding {
        static_cast<void>(of.tensor("no_such_tensor"));
        return {};
    };
    invoke_rules_options how;
    how.on_skip = [](std::size_t, step_number, const error&) { throw std::runtime_error("no listener"); };
    CHECK_THROWS_WITH_AS(static_cast<void>(invoke_rules(run, how, lacks)), "no listener", std::runtime_error);
    how.on_skip = {};
    const auto results = invoke_rules(run, how, lacks);
    CHECK(results[0].outcome.skipped == 6);
    CHECK(results[0].outcome.evaluated == 0);
    CHECK(results[0].outcome.end == invoke_end::end_of_run);
}
