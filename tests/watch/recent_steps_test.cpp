#include <smdebug/trial/trial_access.hpp>
#include <smdebug/watch/recent_steps.hpp>

#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/reduce/scalar_kernel.hpp>
#include <smdebug/trial/catalog/catalog.hpp>
#include <smdebug/xtensor.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug::detail;
using steps_list = std::vector<step_number>;
using names_list = std::vector<std::string>;

namespace {

struct recent : recent_steps {
    recent(const hook_options& watched, const watch_options& how)
        : recent_steps(watched, how, any_kernel{scalar_kernel{}}) {}
};

void take(recent& steps, std::string_view name, std::vector<float> values,
          std::span<const std::string_view> into = {}) {
    const std::array shape{values.size()};
    steps.take(name, view_of(values, shape, name), into);
}

// One step with one tensor, whose value is the step's number.
void one_step(recent& steps, step_number step) {
    steps.begin({.step = step, .mode_step = step});
    take(steps, "w", {static_cast<float>(step)});
    const auto ended = steps.end(step);
    REQUIRE(ended);
    CHECK(ended->step == step);
}

float value_at(const recent& steps, step_number step) { return steps.run().tensor("w").value<float>(step)(0); }

}  // namespace

TEST_CASE("recent_steps: what was taken is read as from a run: worker, modes, collections, the run's name") {
    recent steps{{.out_dir = "runs/mlp",
                  .collections = {{.name = "relus", .include_regex = {"relu"}}},
                  .worker = "worker_3",
                  .num_workers = 8},
                 {}};
    steps.begin({.step = 7, .mode = mode::eval, .mode_step = 2});
    take(steps, "relu_0", {1, 2, 3});
    take(steps, "fc1.weight", {4});
    const std::array<std::string_view, 1> mine{"mine"};
    take(steps, "odd", {5}, mine);
    const auto ended = steps.end(7);
    REQUIRE(ended);
    CHECK(ended->step == 7);
    CHECK(ended->mode == mode::eval);
    CHECK(ended->mode_step == 2);

    const auto& run = steps.run();
    CHECK(run.name() == "mlp");
    CHECK(run.steps() == steps_list{7});
    CHECK(run.mode(7) == mode::eval);
    CHECK(run.mode_step(7) == 2);
    CHECK(run.workers() == names_list{"worker_3"});
    CHECK(run.tensor_names({.collection = "relus", .step = 7}) == names_list{"relu_0"});
    CHECK(run.tensor_names({.collection = "weights"}) == names_list{"fc1.weight"});
    CHECK(run.tensor_names({.collection = "mine"}) == names_list{"odd"});
    CHECK(run.tensor("relu_0").value<float>(2, {.mode = mode::eval})(2) == 3);
    CHECK(run.last_complete_step() == 7);
}

TEST_CASE("recent_steps: a collection that comes later is seen when it is there") {
    recent steps{{}, {}};
    one_step(steps, 0);
    steps.begin({.step = 1, .mode_step = 1});
    const std::array<std::string_view, 1> late{"late"};
    take(steps, "x", {1}, late);
    REQUIRE(steps.end(1));
    CHECK(steps.run().tensor_names({.collection = "late"}) == names_list{"x"});
    CHECK(steps.run().steps() == steps_list{0, 1});
}

TEST_CASE("recent_steps: memory is bounded, and the trial knows of no step that is gone") {
    recent steps{{}, {.keep_steps = 8}};
    std::size_t most = 0;
    for (step_number step = 0; step < 100; ++step) {
        one_step(steps, step);
        const steps_list known = steps.run().steps();
        CHECK(known.back() == step);
        CHECK(known.front() == step + 1 - static_cast<step_number>(known.size()));
        CHECK(known.size() >= std::min<std::size_t>(8, static_cast<std::size_t>(step) + 1));
        CHECK(known.size() <= 10);
        CHECK(value_at(steps, known.front()) == static_cast<float>(known.front()));
        CHECK(steps.memory().objects() == 2 * known.size() + 1);  // events and index; the collections
        CHECK(known.size() + steps.memory().spare() <= 11);
        most = std::max(most, known.size());
        CHECK(catalog_of(steps.run())->steps.size() == known.size());
    }
    CHECK(most == 10);
    CHECK_THROWS_AS(static_cast<void>(value_at(steps, 50)), step_unavailable);
}

TEST_CASE("recent_steps: with one step to keep there is one") {
    recent steps{{}, {.keep_steps = 1}};
    for (step_number step = 0; step < 5; ++step) {
        one_step(steps, 10 * step);
        CHECK(steps.run().steps() == steps_list{10 * step});
    }
    CHECK(steps.memory().objects() == 3);
}

TEST_CASE("recent_steps: where the training goes back, what it has left behind is forgotten") {
    recent steps{{}, {}};
    for (const step_number step : {0, 1, 2, 3}) {
        one_step(steps, step);
    }
    steps.begin({.step = 1, .mode_step = 1});
    take(steps, "w", {-1});
    take(steps, "another", {-2, -3});
    REQUIRE(steps.end(1));
    CHECK(steps.run().steps() == steps_list{0, 1});
    CHECK(value_at(steps, 1) == -1);
    CHECK(steps.run().tensor("another").value<float>(1)(1) == -3);
    CHECK(steps.memory().objects() == 5);
    one_step(steps, 2);
    CHECK(steps.run().steps() == steps_list{0, 1, 2});
}

TEST_CASE("recent_steps: a step without tensors is none; one that was begun and got another number is forgotten") {
    recent steps{{}, {}};
    steps.begin({.step = 0});
    CHECK_FALSE(steps.end(0));
    for (int round = 0; round < 2; ++round) {
        steps.begin({.step = 5, .mode_step = 5});
        take(steps, "w", {5});
        steps.begin({.step = 9, .mode_step = 9});
        CHECK_FALSE(steps.end(9));
        one_step(steps, 9);
        CHECK(steps.run().steps() == steps_list{9});
        CHECK(steps.memory().objects() == 3);
    }
    steps.begin({.step = 9, .mode_step = 9});  // a kept step is written again, and forgotten
    take(steps, "w", {-9});
    steps.begin({.step = 10, .mode_step = 10});
    take(steps, "w", {10});
    REQUIRE(steps.end(10));
    CHECK(steps.run().steps() == steps_list{10});
    CHECK(steps.memory().objects() == 3);
}

TEST_CASE("recent_steps: a step may begin before the last one has ended") {
    recent steps{{}, {}};
    steps.begin({.step = 0});
    take(steps, "w", {0});
    steps.begin({.step = 1, .mode_step = 1});
    take(steps, "w", {1});
    const auto first = steps.end(0);
    REQUIRE(first);
    CHECK(first->step == 0);
    CHECK(steps.run().steps() == steps_list{0});
    take(steps, "x", {2});
    REQUIRE(steps.end(1));
    CHECK(steps.run().steps() == steps_list{0, 1});
    CHECK(steps.run().tensor_names({.step = 1}) == names_list{"w", "x"});
}

TEST_CASE("recent_steps: a mode that changes within a step leaves the step what it was at its first tensor") {
    recent steps{{}, {}};
    steps.begin({.step = 4, .mode = mode::train, .mode_step = 3});
    take(steps, "w", {1});
    steps.begin({.step = 4, .mode = mode::eval, .mode_step = 0});
    take(steps, "x", {2});
    const auto ended = steps.end(4);
    REQUIRE(ended);
    CHECK(ended->mode == mode::train);
    CHECK(ended->mode_step == 3);
    CHECK(steps.run().mode(4) == mode::train);
    CHECK(steps.run().tensor_names({.step = 4}) == names_list{"w", "x"});
}

TEST_CASE("recent_steps: with reductions alone no values are kept, but scalars and losses are") {
    recent steps{{}, {.reduction_config = reduction_config{.reductions = {"mean"}, .abs_reductions = {"max"}}}};
    steps.begin({.step = 0});
    take(steps, "w", {1, -5});
    take(steps, "scalar/lr", {0.5F});
    take(steps, "CrossEntropyLoss_output_0", {3});
    REQUIRE(steps.end(0));
    const auto& run = steps.run();
    CHECK(run.tensor("w").reduction_value(0, reduction::mean) == -2);
    CHECK(run.tensor("w").reduction_value(0, reduction::max, {.abs = true}) == 5);
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").value(0)), tensor_unavailable_for_step);
    CHECK_THROWS_AS(static_cast<void>(run.tensor("w").reduction_value(0, reduction::min)), tensor_unavailable_for_step);
    CHECK(run.tensor("scalar/lr").value<float>(0)(0) == 0.5F);
    CHECK(run.tensor("CrossEntropyLoss_output_0").value<float>(0)(0) == 3);
}

TEST_CASE("recent_steps: what is not there is not waited for") {
    recent steps{{}, {}};
    one_step(steps, 0);
    CHECK_THROWS_AS(steps.run().wait_for_steps({1}), stopped_error);
    CHECK_THROWS_AS(static_cast<void>(value_at(steps, 1)), step_not_yet_available);
}

TEST_CASE("recent_steps: values, handles and trials that a rule keeps stay whole") {
    std::optional<tensor_array<float>> held;
    std::optional<trial> copy;
    {
        recent steps{{}, {.keep_steps = 2}};
        one_step(steps, 0);
        held = steps.run().tensor("w").value<float>(0);
        const auto* const place = &steps.run();
        const auto handle = steps.run().tensor("w");
        for (step_number step = 1; step < 20; ++step) {
            one_step(steps, step);
            CHECK(&steps.run() == place);
            CHECK(handle.value<float>(step)(0) == static_cast<float>(step));
        }
        copy = steps.run();
    }
    CHECK((*held)(0) == 0);
    CHECK(copy->tensor("w").value<float>(19)(0) == 19);
}
