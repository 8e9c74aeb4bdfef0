#include <smdebug/rules/any_rule.hpp>

#include "support/archetypes.hpp"
#include "support/run_builder.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

memory_storage sample(bool ended = true) {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 6; step += 2) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("w", {step == 2 ? std::numeric_limits<float>::infinity() : 1})},
                    .mode = mode::eval,
                    .mode_step = step / 2});
    }
    if (ended) {
        build.end();
    }
    return store;
}

struct misconfigured {
    void check() const { throw value_error("no"); }
    [[nodiscard]] finding operator()(const readable_trial auto& /*run*/, step_number /*step*/) const { return {}; }
};

/// Holds runs, whose refreshing is off while it is called.
struct compares {
    std::vector<std::reference_wrapper<const memory_trial>> others;
    [[nodiscard]] const auto& other_runs() const { return others; }
    [[nodiscard]] finding operator()(const memory_trial& run, step_number /*step*/) const {
        CHECK_FALSE(run.dynamic_refresh());
        for (const memory_trial& other : others) {
            CHECK_FALSE(other.dynamic_refresh());
        }
        return {};
    }
};
static_assert(compares_many_trials<compares>);

/// Compares with a run that refreshes, and with one that cannot.
struct compares_with_any {
    const memory_trial& growing;
    const trial_archetype& fixed;
    [[nodiscard]] auto other_trials() const { return std::tie(growing, fixed); }
    [[nodiscard]] finding operator()(const memory_trial& /*run*/, step_number /*step*/) const {
        CHECK_FALSE(growing.dynamic_refresh());
        return {};
    }
};
static_assert(compares_trials<compares_with_any>);

/// Reports a step of its own choice.
struct looks_back {
    [[nodiscard]] static constexpr std::string_view name() { return "looks_back"; }
    [[nodiscard]] std::vector<finding> operator()(const readable_trial auto& /*run*/, step_number step) const {
        return {{.met = true, .rule = "own_name", .step = step - 2, .message = "earlier"},
                {.met = true, .message = "here"},
                {},
                {.message = "a note"}};
    }
};

/// Evaluates a rule once, unerased.
template <class Rule, class Run>
std::vector<finding> evaluated(Rule& rule, const Run& run, step_number step, const wait_options& how = {}) {
    return held_rule<Rule&, Run>{rule}.evaluate(run, step, how);
}

}  // namespace

TEST_CASE("erased_rule: findings and notes of one step, which say whose they are, and when") {
    const memory_trial run{sample()};
    looks_back rule;
    const auto found = evaluated(rule, run, 4);
    REQUIRE(found.size() == 3);  // an empty finding is left out
    CHECK(found[0].rule == "own_name");
    CHECK(found[0].step == 2);
    CHECK(found[0].mode == mode::eval);
    CHECK(found[0].mode_step == 1);
    CHECK(found[1].rule == "looks_back");
    CHECK(found[1].step == 4);
    CHECK(found[1].mode_step == 2);
    CHECK(found[2].message == "a note");
    CHECK_FALSE(found[2].met);
}

TEST_CASE("erased_rule: a bool is a verdict without words") {
    const memory_trial run{sample()};
    auto infinite = [](const readable_trial auto& trial, step_number step) {
        return trial.tensor("w").reduction_value(step, "max") > 1e9;
    };
    const auto found = evaluated(infinite, run, 2);
    REQUIRE(found.size() == 1);
    CHECK(found[0].met);
    CHECK(found[0].step == 2);
    CHECK(found[0].message.empty());
    CHECK(evaluated(infinite, run, 4).empty());
}

TEST_CASE("erased_rule: settings that make no sense are an error before anything is waited for") {
    const memory_trial running{sample(false)};
    misconfigured rule;
    CHECK_THROWS_AS(static_cast<void>(evaluated(rule, running, 100)), value_error);
}

TEST_CASE("erased_rule: waits for the step, and says which way it does not come") {
    const memory_trial ended{sample()};
    const memory_trial running{sample(false), {.poll_interval = std::chrono::milliseconds{1}}};
    rules::exploding_tensor rule;
    CHECK(evaluated(rule, ended, 2).size() == 1);
    CHECK(evaluated(rule, ended, 4).empty());
    CHECK_THROWS_AS(static_cast<void>(evaluated(rule, ended, 3)), step_unavailable);
    CHECK_THROWS_AS(static_cast<void>(evaluated(rule, ended, 6)), no_more_data);
    CHECK(thrown_code([&] {
              static_cast<void>(evaluated(rule, running, 6, {.timeout = std::chrono::milliseconds{1}}));
          }) == error_code::timed_out);
}

TEST_CASE("erased_rule: refreshing of all runs is off during a call, and on again behind it, come what may") {
    const memory_trial run{sample()};
    const memory_trial first{sample()};
    const memory_trial second{sample()};
    compares rule{{first, second}};
    CHECK(evaluated(rule, run, 0).empty());
    const trial_archetype fixed{{{0, 1}}};
    compares_with_any with_both{first, fixed};
    CHECK(evaluated(with_both, run, 0).empty());
    auto broken = [](const memory_trial&, step_number) -> finding { throw std::runtime_error("a bug"); };
    CHECK_THROWS_AS(static_cast<void>(evaluated(broken, run, 0)), std::runtime_error);
    for (const memory_trial* each : {&run, &first, &second}) {
        CHECK(each->dynamic_refresh());
    }
}

TEST_CASE("means_skip: what was not saved, and nothing else that was not found") {
    CHECK(detail::means_skip(tensor_unavailable{"t"}));
    CHECK(detail::means_skip(no_more_data{5, mode::global, 4}));
    CHECK_FALSE(detail::means_skip(invalid_worker{"w"}));
}
