#include <smdebug/rules/built_in/saturated_activation.hpp>

#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::saturated_activation;
using steps_list = std::vector<step_number>;
using names = std::vector<std::string>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

names fired(const saturated_activation& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), true);
}

names noted(const saturated_activation& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), false);
}

}  // namespace

TEST_CASE("saturated_activation: fires at the step of the specification's example, also where steps are missing") {
    memory_storage store;
    const std::vector<float> values{10, -10, 0.5F, 12, 11, -9.6F, 0.1F, 20};
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("tanh_input", values, {2, 4})}})
        .step({.step = 3, .tensors = {tensor_of<float>("other", {99}, {1, 1})}})
        .step({.step = 4, .tensors = {tensor_of<float>("tanh_input", {0, 99, 99}, {1, 3})}})
        .step({.step = 7, .tensors = {tensor_of<float>("tanh_input", {0, 1}, {1, 2})}})
        .end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(saturated_activation{}, run);
    CHECK(outcome.met_at == steps_list{0, 4});
    REQUIRE(outcome.findings.size() == 2);
    CHECK(outcome.findings[0].tensor == "tanh_input");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 75);
    CHECK(outcome.findings[0].threshold == 50);
    CHECK(outcome.findings[0].message ==
          "3 of 4 nodes (75%) are saturated, more than 50%: active in less than 1% of 2 samples");
    CHECK(invoke_rule(saturated_activation{.threshold_layer = 75}, run).findings.empty());
    CHECK(invoke_rule(saturated_activation{.tensor_regex = "nothing"}, run).findings.empty());
    CHECK(fired({.threshold_tanh_max = 11.5}, run) == names{});
}

TEST_CASE("saturated_activation: the name selects the limits, those of tanh first; a tensor without any is noted") {
    memory_storage store;
    const auto layer = [](const std::string& name, std::vector<float> values) {
        return tensor_of<float>(name, values, {1, values.size()});
    };
    run_builder{store}
        .collections({"worker_0"}, {{"mine", {"neither", "own_sigmoid", "never_saved"}}})
        .step({.step = 0,
               .tensors = {layer("a_tanh_input", {10}), layer("a_sigmoid_input", {10}),
                           layer("b_tanh_input", {-9.4999F}), layer("b_sigmoid_input", {17}),
                           layer("c_sigmoid_input", {-23}), layer("sigmoid_tanh_input", {10}),
                           layer("Tanh_input", {99}), layer("neither", {99}), layer("own_sigmoid", {-99})}})
        .end();
    const memory_trial run{store};
    const names by_default{"a_tanh_input", "b_sigmoid_input", "c_sigmoid_input", "sigmoid_tanh_input"};
    CHECK(fired({}, run) == by_default);  // the float nearest to -9.4999 is a little above it
    CHECK(noted({}, run).empty());
    CHECK(fired({.collection_names = {"mine", "no_such"}}, run) ==
          names{"a_tanh_input", "b_sigmoid_input", "c_sigmoid_input", "own_sigmoid", "sigmoid_tanh_input"});
    CHECK(noted({.collection_names = "mine"}, run) == names{"neither"});
    CHECK(fired({.tensor_regex = "Tanh"}, run).empty());
    CHECK(noted({.tensor_regex = "Tanh"}, run) == names{"Tanh_input"});
    CHECK(fired({.tensor_regex = "tanh", .threshold_tanh_min = -9.4}, run) ==
          names{"a_tanh_input", "b_tanh_input", "sigmoid_tanh_input"});
    CHECK(fired({.threshold_tanh_max = 11, .threshold_sigmoid_min = -24, .threshold_sigmoid_max = 18}, run).empty());
}

TEST_CASE("saturated_activation: NaN and infinities are not active; what is no layer of reals is skipped") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("nan_tanh", {not_a_number, not_a_number, 0}, {1, 3}),
                           tensor_of<float>("inf_tanh", {-inf, inf}, {1, 2}),
                           tensor_of<float>("half_inf_tanh", {-inf, 0, inf, 0}, {2, 2}),
                           tensor_of<float>("flat_tanh", {10, 10, 0}), tensor_of<float>("scalar_tanh", {10}, {}),
                           tensor_of<float>("empty_tanh", {}, {0, 4}),
                           written_tensor{"text_tanh", dtype::string, {0}, {}},
                           tensor_of<std::complex<float>>("complex_tanh", {{10, 0}})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = "."}, run) == names{"flat_tanh", "inf_tanh", "nan_tanh"});
    CHECK(noted({.tensor_regex = "."}, run).empty());
}

TEST_CASE("saturated_activation: judges by saved extrema where they prove something, and notes where they do not") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {saved("min", "fine_tanh", -9), saved("max", "fine_tanh", 9), saved("min", "high_tanh", 10),
                           saved("max", "low_tanh", -10), saved("min", "some_tanh", -10), saved("max", "some_tanh", 9),
                           saved("max", "one_tanh", 9), saved("min", "nan_tanh", not_a_number),
                           saved("max", "nan_tanh", not_a_number), saved("max", "scalar_tanh", -10)},
               .shapes = {{"scalar_tanh", "scalar_tanh", {}}}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = "."}, run) == names{"high_tanh", "low_tanh"});
    CHECK(noted({.tensor_regex = "."}, run) == names{"nan_tanh", "one_tanh", "some_tanh"});
}

TEST_CASE("saturated_activation: where saved extrema decide, they decide as the values that they come from") {
    std::mt19937 random{3};
    for (int round = 0; round < 40; ++round) {
        std::vector<float> values(6);
        const int centre = 10 * (round % 3 - 1);
        for (float& each : values) {
            each = static_cast<float>(static_cast<int>(random() % 9) - 4 + centre);
        }
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        memory_storage full;
        memory_storage reduced;
        run_builder{full}.collections().step({.step = 0, .tensors = {tensor_of<float>("tanh", values, {2, 3})}}).end();
        run_builder{reduced}
            .collections()
            .step({.step = 0, .tensors = {saved("min", "tanh", *low), saved("max", "tanh", *high)}})
            .end();
        const memory_trial from_values{full};
        const memory_trial from_reductions{reduced};
        const saturated_activation rule{.threshold_tanh_min = -6, .threshold_tanh_max = 6};
        saturated_activation named = rule;
        named.tensor_regex = "tanh";
        CHECK(noted(named, from_values).empty());
        if (noted(named, from_reductions).empty()) {
            CHECK(fired(named, from_values) == fired(named, from_reductions));
        }
    }
}

TEST_CASE("saturated_activation: looks at the first worker, or at all of them") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("tanh_input", {1})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<float>("tanh_input", {99})}, .worker = "worker_1"}).end();
    const memory_trial run{store};
    CHECK(invoke_rule(saturated_activation{}, run).findings.empty());
    const auto outcome = invoke_rule(saturated_activation{.all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE("saturated_activation: works on reductions alone, as far as extrema decide") {
    const memory_trial run =
        reduced_run({{"fine_tanh", {{0, {1, 2}}}}, {"flat_tanh", {{0, {10, 11}}}}, {"some_tanh", {{0, {0, 11}}}}});
    CHECK(fired({.tensor_regex = "."}, run) == names{"flat_tanh"});
    CHECK(noted({.tensor_regex = "."}, run) == names{"some_tanh"});
}

TEST_CASE("saturated_activation: needs tensors to look at, percentages, and limits with something between them") {
    CHECK_NOTHROW(saturated_activation{}.check());
    CHECK_NOTHROW((saturated_activation{.collection_names = "a", .tensor_regex = text_list{}}.check()));
    CHECK(thrown_code([&] { static_cast<void>(saturated_activation{.tensor_regex = text_list{}}.check()); }) ==
          error_code::insufficient_information);
    CHECK_THROWS_WITH_AS(saturated_activation{.threshold_tanh_min = 10}.check(),
                         "SMDebugValueError: saturated_activation: threshold_tanh_min is 10, which is not below "
                         "threshold_tanh_max, 9.4999",
                         value_error);
    CHECK_THROWS_AS(saturated_activation{.threshold_sigmoid_max = -23}.check(), value_error);
    CHECK_THROWS_AS(saturated_activation{.threshold_inactivity = -1}.check(), value_error);
    CHECK_THROWS_AS(saturated_activation{.threshold_layer = 101}.check(), value_error);
}
