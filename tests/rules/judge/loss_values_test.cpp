#include <smdebug/rules/judge/loss_values.hpp>

#include "rules/built_in/history_runs.hpp"
#include "support/look_up.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::detail::losses_at;
using rules::detail::scalar_at;

TEST_CASE("loss_values: a scalar is a tensor of one real element, whatever its shape and type") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 4,
               .tensors = {tensor_of<float>("flat", {0.5F}), tensor_of<double>("zero_d", {0.25}, {}),
                           tensor_of<std::int64_t>("whole", {3}, {1, 1}), tensor_of<float>("two", {1, 2}),
                           tensor_of<float>("none", {}), tensor_of<std::complex<float>>("complex", {{1, 1}}),
                           written_tensor{"text", dtype::string, {0}, {}}},
               .mode = mode::eval,
               .mode_step = 1})
        .end();
    const memory_trial run{store};
    const auto value = [&](const std::string& name) {
        const auto found = scalar_at(run.tensor(name), 4, {});
        REQUIRE(found);
        return *found;
    };
    CHECK(value("flat") == 0.5);
    CHECK(value("zero_d") == 0.25);
    CHECK(value("whole") == 3.0);
    CHECK_FALSE(value("two"));
    CHECK_FALSE(value("none"));
    CHECK_FALSE(value("complex"));
    CHECK_FALSE(value("text"));
    CHECK(*value_of(scalar_at(run.tensor("flat"), 1, {.mode = mode::eval})) == 0.5);
    CHECK_FALSE(scalar_at(run.tensor("flat"), 2, {.mode = mode::eval}));
}

TEST_CASE("loss_values: saved reductions are the value where the saved shape has one element") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("smdebug/reductions/max/many", {2}),
                           tensor_of<float>("smdebug/reductions/max/unknown", {2}),
                           tensor_of<float>("smdebug/reductions/max/one", {2})},
               .shapes = {{"one", "one", {1}}, {"many", "many", {5}}}})
        .end();
    const memory_trial run{store};
    CHECK(*value_of(scalar_at(run.tensor("one"), 0, {})) == 2);
    CHECK_FALSE(value_of(scalar_at(run.tensor("many"), 0, {})));
    CHECK(failure_of(scalar_at(run.tensor("unknown"), 0, {})).why == lookup_failure_kind::tensor_not_saved);
    damage(store, 0);  // its end; the shape stands in the index
    CHECK(is_lost(failure_of(scalar_at(memory_trial{store}.tensor("one"), 0, {}))));
}

TEST_CASE("loss_values: a step's losses are training's or validation's, by its mode, and several count as their mean") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"a", "b", "large"}}, {"metrics", {"train-x"}}});
    const auto tensors = [] {
        return std::vector{tensor_of<float>("a", {1}), tensor_of<float>("b", {3}), tensor_of<float>("large", {9, 9}),
                           tensor_of<float>("train-x", {100})};
    };
    build.step({.step = 0, .tensors = tensors(), .mode = mode::train});
    build.step({.step = 1, .tensors = tensors(), .mode = mode::eval});
    build.step({.step = 2, .tensors = tensors(), .mode = mode::predict});
    build.step({.step = 3, .tensors = tensors(), .mode = mode::global});
    build.end();
    const memory_trial run{store};
    const auto train = losses_at(run, 0);
    CHECK(train.by_mode);
    CHECK(train.train.count == 2);
    CHECK(train.train.mean() == 2);
    CHECK(train.train.tensor.empty());
    CHECK(train.validation.count == 0);
    const auto validation = losses_at(run, 1, "^b$");
    CHECK(validation.train.count == 0);
    CHECK(validation.validation.mean() == 3);
    CHECK(validation.validation.tensor == "b");
    CHECK(validation.validation.worker == "worker_0");
    for (const step_number step : {2, 3}) {
        CHECK(losses_at(run, step).train.count + losses_at(run, step).validation.count == 0);
    }
}

TEST_CASE("loss_values: without TRAIN and EVAL steps, names of metrics say which is training's") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"metrics", {"train-rmse", "train-mae", "validation-rmse", "other-train"}}});
    build.step({.step = 0,
                .tensors = {tensor_of<double>("train-rmse", {1}), tensor_of<double>("train-mae", {2}),
                            tensor_of<double>("validation-rmse", {4}), tensor_of<double>("other-train", {100})},
                .mode = mode::global});
    build.end();
    const memory_trial run{store};
    const auto all = losses_at(run, 0);
    CHECK_FALSE(all.by_mode);
    CHECK(all.train.mean() == 1.5);
    CHECK(all.validation.mean() == 4);
    CHECK(losses_at(run, 0, "rmse").train.mean() == 1);
}

TEST_CASE("loss_values: what cannot be read is noted, and the others count") {
    const memory_trial run = reduced_run({{"loss", {{0, {1}}}}}, {{"losses", {"loss"}}});
    const auto found = losses_at(run, 0);
    CHECK(found.train.count == 0);
    REQUIRE(found.notes.size() == 1);
    CHECK(found.notes[0].tensor == "loss");
    CHECK_FALSE(found.notes[0].met);
}
