#include <smdebug/trial/shared/rule_view.hpp>

#include "support/run_builder.hpp"
#include "support/test.hpp"

#include <smdebug/index/locations.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>
#include <smdebug/rules/built_in/loss_not_decreasing.hpp>
#include <smdebug/rules/built_in/unchanged_tensor.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/judge/saved_tensor.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/storage/memory_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/shared/step_cache.hpp>
#include <smdebug/trial/trial_access.hpp>
#include <smdebug/xtensor.hpp>

using namespace smdebug;
using namespace smdebug::detail;
using namespace smdebug_test;

namespace {

/// Six steps of the valid gradients "a" and "b"; some of their event files are missing.
memory_storage six_steps(const std::vector<step_number>& lost) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"gradients", {"a", "b"}}, {"losses", {"a"}}});
    for (step_number step = 0; step < 6; ++step) {
        const float value = 1.0F / static_cast<float>(step + 1);
        build.step({.step = step, .tensors = {tensor_of<float>("a", {value}), tensor_of<float>("b", {value, 2})}});
    }
    for (const step_number step : lost) {
        store.remove(smdebug::detail::locations::event_key(step, "worker_0"));
    }
    build.end();
    return store;
}

/// Reads a mean as users' rules do: throws, or looks it up and ignores a failure.
struct careless {
    bool throwing = true;
    [[nodiscard]] finding operator()(const readable_trial auto& run, step_number step) const {
        if (throwing) {
            return {.met = run.tensor("a").reduction_value(step, reduction::mean) > 100};
        }
        const auto mean = run.tensor("a").find_reduction(step, reduction::mean);
        return {.met = mean && *mean > 100};
    }
};

}  // namespace

TEST_CASE("rule_view: counts what rules read and what they could not, for one rule and several") {
    const memory_trial run{six_steps({2})};
    const rules::exploding_tensor rule;
    const rule_outcome alone = invoke_rule(rule, run);
    CHECK(alone.tensors == 12);
    CHECK(alone.unread == 2);
    CHECK(alone.first_unread.find(smdebug::detail::locations::event_key(2, "worker_0")) != std::string::npos);
    CHECK(status_of(alone) == rule_status::incomplete);
    const auto together = invoke_rules(run, {}, rules::exploding_tensor{}, rules::vanishing_gradient{},
                                       rules::unchanged_tensor{.collection_names = "gradients"});
    REQUIRE(together.size() == 3);
    for (const rule_result& each : together) {
        INFO(each.name);
        const std::size_t looked_at = each.name == "unchanged_tensor" ? 8 : 12;  // it does not read the first two saves
        CHECK(each.outcome.tensors == looked_at);
        CHECK(each.outcome.unread == 2);
        CHECK(each.outcome.tensors == looked_at);
        CHECK(each.outcome.unread == 2);
        CHECK(each.status == rule_status::incomplete);
        CHECK(each.details.starts_with("2 of " + std::to_string(looked_at) + " tensors could not be read, first: "));
    }
}

TEST_CASE("rule_view: a rule that could read nothing at all is an error; one that could read everything is not") {
    const rules::exploding_tensor rule;
    const rule_outcome none = invoke_rule(rule, memory_trial{six_steps({0, 1, 2, 3, 4, 5})});
    CHECK(none.tensors == 12);
    CHECK(none.unread == 12);
    CHECK(status_of(none) == rule_status::error);
    const rule_outcome all = invoke_rule(rule, memory_trial{six_steps({})});
    CHECK(all.tensors == 12);
    CHECK(all.unread == 0);
    CHECK(all.first_unread.empty());
    CHECK(status_of(all) == rule_status::no_issues_found);
}

TEST_CASE("rule_view: how a rule handles a failure does not change the count") {
    const memory_trial run{six_steps({2, 3})};
    for (const bool throwing : {true, false}) {
        INFO(throwing);
        const rule_outcome alone = invoke_rule(careless{throwing}, run);
        CHECK(alone.skipped == (throwing ? 2 : 0));
        CHECK(alone.tensors == 6);
        CHECK(alone.unread == 2);
        CHECK(status_of(alone) == rule_status::incomplete);
        const auto shared = invoke_rules(run, {}, careless{throwing});
        CHECK(shared[0].outcome.tensors == 6);
        CHECK(shared[0].outcome.unread == 2);
    }
    // A rule for one type of trial only: its failed reads count, too.
    const auto typed = [](const memory_trial& of, step_number step) {
        return finding{.met = of.tensor("a").reduction_value(step, reduction::mean) > 100};
    };
    const rule_outcome told = invoke_rule(typed, run);
    CHECK(told.unread == 2);
    CHECK(told.tensors == 6);
    CHECK(status_of(told) == rule_status::incomplete);
}

TEST_CASE("rule_view: a failed read of a step before the first evaluated one counts") {
    const memory_trial run{six_steps({1})};
    const rule_outcome back = invoke_rule(rules::loss_not_decreasing{.num_steps = 1}, run, {.start_step = 2});
    CHECK(back.unread == 1);
    CHECK(back.first_unread.find(smdebug::detail::locations::event_key(1, "worker_0")) != std::string::npos);
    const rule_outcome both = invoke_rule(rules::loss_not_decreasing{.num_steps = 1}, run);
    CHECK(both.unread == 1);
}

TEST_CASE("rule_view: every kind of read is counted, and returns and throws as the trial does") {
    const memory_trial run{six_steps({1})};
    memory_trial observed{run};
    trial_access::share_with_rules(observed, smdebug::detail::view_for_rules(state_of(observed), nullptr));
    auto& log = *trial_access::rule_log(observed);
    const auto tensor = observed.tensor("b");
    const auto counts = [&](step_number step, auto&& ask) {
        log.begin({.step = step});
        ask();
        const auto asked = log.end();
        return asked.read + 10 * asked.lost.size();
    };
    const auto each_way = [&](step_number step, std::size_t expected) {
        const auto quietly = [&](auto&& ask) {
            return counts(step, [&] {
                try {
                    ask();
                } catch (const tensor_unavailable_for_step&) {
                    CHECK(expected == 10);
                } catch (const not_found& caught) {
                    if (caught.code() != error_code::shape_unavailable_for_step) {
                        throw;
                    }
                    CHECK(expected == 10);
                }
            });
        };
        CHECK(quietly([&] { static_cast<void>(tensor.find_value(step)); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.find_value<float>(step)); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.find_reduction(step, reduction::max)); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.find_reduction(step, "max")); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.find_computed(step, reduction_set::counts())); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.find_shape(step)); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.value(step)); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.value<float>(step)); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.reduction_value(step, reduction::max)); }) == expected);
        CHECK(quietly([&] { static_cast<void>(tensor.reduction_value(step, "max")); }) == expected);
    };
    each_way(0, 1);
    each_way(1, 10);
    CHECK(counts(3, [&] { CHECK_THROWS_AS(static_cast<void>(tensor.values()), tensor_unavailable_for_step); }) == 10);
    CHECK(*tensor.find_reduction(3, reduction::max) == 2);
    CHECK_THROWS_AS(static_cast<void>(tensor.reduction_value(9, reduction::max)), step_unavailable);
    CHECK(counts(9, [&] { static_cast<void>(tensor.find_value(9)); }) == 0);
}

TEST_CASE("rule_view: a finding remains, together with what could not be read") {
    memory_storage store = six_steps({2});
    run_builder{store}.step({.step = 6, .tensors = {tensor_of<float>("a", {std::numeric_limits<float>::infinity()})}});
    const auto found = invoke_rules(memory_trial{store}, {}, rules::exploding_tensor{});
    CHECK(found[0].status == rule_status::issues_found);
    CHECK(found[0].outcome.unread == 2);
    CHECK(found[0].details.find(". 2 of 13 tensors could not be read, first: ") != std::string::npos);
}

TEST_CASE("rule_view: a trial without a view shares and logs nothing; copies of a trial share its view") {
    memory_storage store;
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of<float>("a", {1})}}).end();
    memory_trial run{store};
    CHECK(trial_access::rule_log(run) == nullptr);
    CHECK_FALSE(trial_access::remembers_measures(run.tensor("a")));
    trial_access::begin_rules(run, 0);  // no rules: a no-op
    const sharing_options how;
    trial_access::share_with_rules(run, smdebug::detail::view_for_rules(state_of(run), &how));
    const memory_trial copy = run;
    CHECK(trial_access::rule_log(copy) == trial_access::rule_log(run));
    CHECK(trial_access::remembers_measures(copy.tensor("a")));
    trial_access::share_with_rules(run, smdebug::detail::view_for_rules(state_of(run), nullptr));
    CHECK_FALSE(trial_access::remembers_measures(run.tensor("a")));
}
