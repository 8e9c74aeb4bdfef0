#include <smdebug/rules/built_in/overfit.hpp>

#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::loss_window;
using rules::overfit;
using steps_list = std::vector<step_number>;

static_assert(described_rule<overfit> && checked_rule<overfit>);

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// Saves "loss" at steps 0, 1, ...
memory_storage saves(const std::vector<saved_loss>& all) {
    return run_of_losses(all, tensor_of<float>("other", {100}));
}

steps_list met_at(const memory_storage& store, overfit rule = {}, step_number start = 0) {
    return invoke_rule(rule, memory_trial{store}, {.start_step = start}).met_at;
}

}  // namespace

TEST_CASE("overfit: fires at the steps of the specification's example, with patience 1 and 2") {
    const memory_storage store =
        saves({train(1), train(0.8), eval(0.95), train(0.5), train(0.5), eval(0.6), eval(0.6)});
    CHECK(met_at(store) == steps_list{5, 6});
    CHECK(met_at(store, {.patience = 2}) == steps_list{6});
    CHECK(met_at(store, {.patience = 3}).empty());
    CHECK(met_at(store, {.ratio_threshold = 0.05}) == steps_list{2, 5, 6});
    CHECK(met_at(store, {.rise = 0}).empty());  // 0.6 is the least
    CHECK(met_at(saves({train(1), eval(2), train(1), eval(2.2), eval(2.6)}), {.rise = 0.1}) == steps_list{4});
    CHECK(met_at(store, {.ratio_threshold = 0.21}).empty());
    CHECK(met_at(store, {.tensor_regex = "^loss$"}) == steps_list{5, 6});
    CHECK(met_at(store, {.tensor_regex = "^nothing$"}).empty());
    overfit rule;
    const auto found = invoke_rule(rule, memory_trial{store}).findings;
    REQUIRE(found.size() == 2);
    CHECK(found[0].tensor == "loss");
    CHECK(found[0].worker == "worker_0");
    CHECK(found[0].value == doctest::Approx(0.2));
    CHECK(found[0].threshold == 0.1);
    CHECK(found[0].message == "the validation loss 0.6 is 20% above the training loss 0.5");
    CHECK(found[1].message ==
          "the validation loss 0.6 is 20% above the training loss 0.5, for 2 validation steps in a row");
}

TEST_CASE("overfit: a phase's losses count together, other modes do not end it, and start_step cuts it") {
    // T is the mean of 1 and 0.5, the last V that of 0.7 and 0.9
    const std::vector<saved_loss> all{train(1),  {mode::predict, 9}, train(0.5),
                                      eval(0.7), {mode::predict, 9}, eval(0.9)};
    CHECK(met_at(saves(all), {.ratio_threshold = 0.06}) == steps_list{5});
    CHECK(met_at(saves(all), {.ratio_threshold = 0.07}).empty());
    CHECK(met_at(saves(all), {.start_step = 2, .ratio_threshold = 0.39}) == steps_list{3, 5});
    CHECK(met_at(saves(all), {.ratio_threshold = 0.39}, 2) == steps_list{3, 5});
    CHECK(met_at(saves(all), {.start_step = 3, .ratio_threshold = -10}).empty());  // no training loss
    const std::vector<saved_loss> turns{train(1), eval(2), train(1), eval(1)};
    CHECK(met_at(saves(turns)) == steps_list{1});
    CHECK(met_at(saves(turns), {.window = loss_window::cumulative}) == steps_list{1, 3});
}

TEST_CASE("overfit: patience begins anew where validation is fine, and NaN is no overfitting") {
    CHECK(met_at(saves({train(1), eval(2), train(1), eval(1), train(1), eval(2), train(1), eval(2)}),
                 {.patience = 2}) == steps_list{7});
    CHECK(met_at(saves({train(1), eval(2), train(1), eval(not_a_number), train(1), eval(2)}), {.patience = 2}).empty());
    CHECK(met_at(saves({eval(5)})).empty());
    struct row {
        double train;
        double eval;
        bool fires;
    };
    for (const row& each : {row{.train = not_a_number, .eval = 2, .fires = false},
                            {.train = 1, .eval = inf, .fires = true},
                            {.train = inf, .eval = 1, .fires = false},
                            {.train = 0, .eval = 1e-9, .fires = true},
                            {.train = 0, .eval = 0, .fires = false},
                            {.train = -1, .eval = -0.5, .fires = true}}) {
        CAPTURE(each.train);
        CAPTURE(each.eval);
        CHECK(met_at(saves({train(each.train), eval(each.eval)})) == (each.fires ? steps_list{1} : steps_list{}));
    }
}

TEST_CASE("overfit: XGBoost's metrics of a step are compared with each other") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"metrics", {"train-rmse", "train-mae", "validation-rmse", "x-validation"}}});
    const double validation[] = {1.5, 1.7, 1.5, 1.7, 1.8};
    for (step_number step = 0; step < 5; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<double>("train-rmse", {1}), tensor_of<double>("train-mae", {2}),
                                tensor_of<double>("x-validation", {100}),
                                tensor_of<double>(step == 2 ? "x" : "validation-rmse", {validation[step]})},
                    .mode = mode::global});
    }
    build.end();
    CHECK(met_at(store) == steps_list{1, 3, 4});
    CHECK(met_at(store, {.patience = 2}) == steps_list{3, 4});  // a step without validation does not count
    CHECK(met_at(store, {.tensor_regex = "rmse", .ratio_threshold = 0.75}) == steps_list{4});
}

TEST_CASE("overfit: several losses count as their mean, vectors do not, and what cannot be read is noted") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"losses", {"a", "b", "vector", "complex", "empty"}}});
    for (step_number step = 0; step < 2; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<float>("a", {1}), tensor_of<float>("b", {step == 0 ? 1.0F : 1.5F}),
                                tensor_of<float>("vector", {100, 100}), tensor_of<float>("empty", {}),
                                tensor_of<std::complex<float>>("complex", {{100, 0}})},
                    .mode = step == 0 ? mode::train : mode::eval,
                    .worker = "worker_0"});
        build.step({.step = step,
                    .tensors = {tensor_of<float>("a", {100})},
                    .mode = step == 0 ? mode::train : mode::eval,
                    .worker = "worker_1"});
    }
    build.end();
    overfit rule;
    const auto found = invoke_rule(rule, memory_trial{store}).findings;
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == doctest::Approx(0.25));
    CHECK(found[0].tensor.empty());

    const memory_trial reduced = reduced_run({{"loss", {{0, {1}}}}}, {{"losses", {"loss"}}});
    const auto notes = overfit{}(reduced, 0);
    REQUIRE(notes.size() == 1);
    CHECK_FALSE(notes[0].met);
}

TEST_CASE("overfit: settings that make no sense are refused") {
    CHECK_NOTHROW(overfit{}.check());
    CHECK_THROWS_WITH_AS(overfit{.start_step = -1}.check(), doctest::Contains("start_step is -1"), value_error);
    CHECK_THROWS_WITH_AS(overfit{.patience = 0}.check(), doctest::Contains("patience is 0"), value_error);
    CHECK_THROWS_AS(overfit{.rise = -1}.check(), value_error);
    CHECK_THROWS_AS(overfit{.ratio_threshold = not_a_number}.check(), value_error);
}
