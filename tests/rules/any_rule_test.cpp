#include <smdebug/rules/any_rule.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/stalled_training.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial_access.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

using stored_rule = any_rule<memory_trial>;

struct counting {
    int calls = 0;
    [[nodiscard]] finding operator()(const readable_trial auto& /*run*/, step_number /*step*/) {
        ++calls;
        return {.met = true, .message = "call " + std::to_string(calls)};
    }
};

struct checked {
    [[nodiscard]] static constexpr std::string_view name() { return "checked"; }
    void check() const { throw value_error("impossible"); }
    [[nodiscard]] finding operator()(const readable_trial auto& /*run*/, step_number /*step*/) const { return {}; }
};

}  // namespace

TEST_CASE("any_rule: holds a copy, which its own copies share, or borrows") {
    const memory_trial run = small_run({{"a", {{0, {1}}}}});
    counting mine;
    const stored_rule copied{mine};
    const stored_rule shared = copied;
    const stored_rule borrowed = stored_rule::borrowing(mine);
    CHECK(copied.call(run, 0, {}).at(0).message == "call 1");
    CHECK(shared.call(run, 0, {}).at(0).message == "call 2");
    CHECK(mine.calls == 0);
    CHECK(borrowed.call(run, 0, {}).at(0).message == "call 1");
    CHECK(mine.calls == 1);
}

TEST_CASE("any_rule: calls a rule as erased_rule does, also with a trial that shares what it reads") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 3,
               .tensors = {tensor_of<float>("w", {std::numeric_limits<float>::infinity()})},
               .mode = mode::eval,
               .mode_step = 1})
        .end();
    const memory_trial run{store};
    memory_trial shared{run};
    trial_access::share_with_rules(shared, smdebug::detail::view_for_rules(state_of(shared), nullptr));
    trial_access::begin_rules(shared, 3);
    const auto found = stored_rule{rules::exploding_tensor{}}.call(shared, 3, {});
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "exploding_tensor");
    CHECK(found[0].step == 3);
    CHECK(found[0].mode == mode::eval);
    CHECK(found[0].mode_step == 1);
    CHECK(run.dynamic_refresh());
}

TEST_CASE("any_rule: has the rule's name, or another that it is given, which reports use") {
    stored_rule rule{rules::vanishing_gradient{.threshold = 0.5}};
    CHECK(rule.name() == "vanishing_gradient");
    CHECK(stored_rule{[](const auto&, step_number) { return finding{}; }}.name() == "rule");
    rule.rename("mine");
    CHECK(rule.name() == "mine");
    const rule_result result = rule.result({.met_at = {1}, .findings = {{.met = true}}}, "run");
    CHECK(result.name == "mine");
    CHECK(result.run == "run");
    CHECK(result.parameters.at("threshold") == "0.5");
    CHECK(result.outcome.met_at.size() == 1);
}

TEST_CASE("any_rule: a range says at which steps it is to be called") {
    stored_rule rule{rules::exploding_tensor{}};
    CHECK(rule.range().contains(0));
    rule.limit({2, 5});
    CHECK_FALSE(rule.range().contains(1));
    CHECK(rule.range().contains(4));
    CHECK_FALSE(rule.range().contains(5));
}

TEST_CASE("any_rule: checks the settings of a rule that has something to check") {
    CHECK_THROWS_AS(stored_rule{checked{}}.check(), value_error);
    CHECK_NOTHROW(stored_rule{counting{}}.check());
    CHECK_THROWS_AS(stored_rule{rules::stalled_training{.threshold = -1}}.check(), value_error);
}

TEST_CASE("any_rule: a rule that watches the clock is polled, others are not") {
    using std::chrono::seconds;
    using time_point = std::chrono::steady_clock::time_point;
    time_point now{seconds{100}};
    const memory_trial run{small_store({}, saves_of::values, false, {})};
    const stored_rule watching{rules::stalled_training{.threshold = 10, .clock = [&] { return now; }}};
    CHECK(watching.poll_interval() == std::chrono::milliseconds{1000});
    watching.start();
    CHECK_FALSE(watching.while_waiting(run).has_value());
    now += seconds{11};
    const auto found = watching.while_waiting(run);
    REQUIRE(found.has_value());
    CHECK(found->value == 11);
    const stored_rule other{counting{}};
    CHECK_FALSE(other.poll_interval().has_value());
    other.start();
    CHECK_FALSE(other.while_waiting(run).has_value());
}
