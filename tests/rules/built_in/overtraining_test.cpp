#include <smdebug/rules/built_in/overtraining.hpp>

#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::overtraining;
using rules::patience_rule;
using steps_list = std::vector<step_number>;

static_assert(described_rule<overtraining> && checked_rule<overtraining>);

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Saves "loss" at steps 0, 1, ...
memory_storage saves(const std::vector<saved_loss>& all) {
    return run_of_losses(all, tensor_of<float>("loss_of_nobody", {0}));
}

steps_list met_at(const memory_storage& store, overtraining rule, step_number start = 0) {
    return invoke_rule(rule, memory_trial{store}, {.start_step = start}).met_at;
}

}  // namespace

TEST_CASE("overtraining: fires at the step of the specification's example; an OR would at the step before") {
    const memory_storage store =
        saves({train(1), eval(1.1), train(0.5), eval(0.6), train(0.499), eval(0.61), train(0.498)});
    const overtraining rule{.patience_train = 2, .patience_validation = 1};
    CHECK(met_at(store, rule) == steps_list{6});
    CHECK(met_at(store, {.patience_train = 2, .patience_validation = 1, .when = patience_rule::either}) ==
          steps_list{5, 6});
    overtraining walked = rule;
    const auto found = invoke_rule(walked, memory_trial{store}).findings;
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == "loss");
    CHECK(found[0].worker == "worker_0");
    CHECK(found[0].value == 2);
    CHECK(found[0].threshold == 2);
    CHECK(found[0].message ==
          "the training loss has not got better for 2 steps (the best was 0.5), the validation "
          "loss not for 1 steps (the best was 0.6)");
}

TEST_CASE("overtraining: better is strictly below the best by delta") {
    const memory_storage store = saves({train(1), eval(1), train(0.5), eval(0.5)});
    CHECK(met_at(store, {.patience_train = 1, .patience_validation = 1, .delta = 0.5}) == steps_list{3});
    CHECK(met_at(store, {.patience_train = 1, .patience_validation = 1, .delta = 0.49}).empty());
}

TEST_CASE("overtraining: counts from where the walk begins, and not without a validation loss") {
    const memory_storage store = saves({train(1), train(1), train(1), eval(1), eval(1), train(1), {mode::predict, 1}});
    const overtraining rule{.patience_train = 2, .patience_validation = 1};
    CHECK(met_at(store, rule) == steps_list{4, 5});
    CHECK(met_at(store, rule, 2).empty());
    CHECK(met_at(saves({train(1), train(1), train(1)}), rule).empty());
    CHECK(met_at(saves({train(1), train(1), train(1)}), {.patience_train = 2, .when = patience_rule::either}).empty());
}

TEST_CASE("overtraining: NaN is never better, and as the first value no best one") {
    const overtraining rule{.patience_train = 1, .patience_validation = 1};
    CHECK(met_at(saves({train(not_a_number), eval(not_a_number)}), rule) == steps_list{1});
    CHECK(met_at(saves({train(not_a_number), train(1), eval(1), eval(1)}), rule).empty());
    CHECK(met_at(saves({train(1), train(not_a_number), eval(1), eval(not_a_number)}), rule) == steps_list{3});
}

TEST_CASE("overtraining: XGBoost's metrics stand for training and validation in a run without modes") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"metrics", {"train-rmse", "validation-rmse"}}});
    for (step_number step = 0; step < 4; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<double>("train-rmse", {1}),
                                tensor_of<double>("validation-rmse", {step < 2 ? 2.0 - static_cast<double>(step) : 1})},
                    .mode = mode::global});
    }
    build.end();
    CHECK(met_at(store, {.patience_train = 2, .patience_validation = 1}) == steps_list{2, 3});
    CHECK(met_at(store, {.patience_train = 2, .patience_validation = 2}) == steps_list{3});
}

TEST_CASE(
    "overtraining: what cannot be read is noted; vectors, empty tensors and missing collections are passed over") {
    CHECK(overtraining{}(reduced_run({{"loss", {{0, {1}}}}}), 0).empty());
    const auto notes = overtraining{}(reduced_run({{"loss", {{0, {1}}}}}, {{"losses", {"loss"}}}), 0);
    REQUIRE(notes.size() == 1);
    CHECK_FALSE(notes[0].met);

    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"vector", "empty"}}});
    for (step_number step = 0; step < 4; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("vector", {1, 1}), tensor_of<float>("empty", {})},
                    .mode = step < 2 ? mode::train : mode::eval});
    }
    build.end();
    CHECK(met_at(store, {.patience_train = 1, .patience_validation = 1}).empty());
}

TEST_CASE("overtraining: settings that make no sense are refused") {
    CHECK_NOTHROW(overtraining{}.check());
    CHECK_THROWS_WITH_AS(overtraining{.patience_train = 0}.check(), doctest::Contains("patience_train is 0"),
                         value_error);
    CHECK_THROWS_WITH_AS(overtraining{.patience_validation = -1}.check(),
                         doctest::Contains("patience_validation is -1"), value_error);
    CHECK_THROWS_AS(overtraining{.delta = -0.1}.check(), value_error);
    CHECK_THROWS_AS(overtraining{.delta = not_a_number}.check(), value_error);
}
