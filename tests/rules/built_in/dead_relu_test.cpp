#include <smdebug/rules/built_in/dead_relu.hpp>

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
using rules::dead_relu;
using steps_list = std::vector<step_number>;
using names = std::vector<std::string>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

names fired(const dead_relu& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), true);
}

names noted(const dead_relu& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), false);
}

}  // namespace

TEST_CASE("dead_relu: fires as in the specification's example, also where steps or tensors are missing or change") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("a_relu_output", {0, 0, 0, 1, 0, 0, 0, 2}, {4, 2})}})
        .step({.step = 1, .tensors = {tensor_of<float>("other", {0, 0}, {1, 2})}})
        .step({.step = 5,
               .tensors = {tensor_of<float>("a_relu_output", {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0}, {4, 3}),
                           tensor_of<float>("b_relu_output", {1, 1}, {1, 2})}})
        .end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(dead_relu{}, run);
    CHECK(outcome.met_at == steps_list{5});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "a_relu_output");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == doctest::Approx(200.0 / 3));
    CHECK(outcome.findings[0].threshold == 50);
    CHECK(outcome.findings[0].message ==
          "2 of 3 nodes (66.6667%) are dead, more than 50%: active in less than 1% of 4 samples");
    CHECK(invoke_rule(dead_relu{.threshold_layer = 49}, run).met_at == steps_list{0, 5});
    CHECK(invoke_rule(dead_relu{.tensor_regex = {"other", "^b"}}, run).met_at == steps_list{1});
    CHECK(invoke_rule(dead_relu{.tensor_regex = "nothing"}, run).findings.empty());
}

TEST_CASE("dead_relu: a ReLU is dead by its share of samples, strictly below the threshold") {
    std::vector<float> values(400);  // 200 samples of two ReLUs: one active in 1 %, one in 0.5 %
    values[0] = values[2] = values[1] = 1;
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("relu_output", values, {200, 2})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({}, run).empty());
    CHECK(fired({.threshold_layer = 49.9}, run) == names{"relu_output"});
    CHECK(fired({.threshold_inactivity = 1.01}, run) == names{"relu_output"});
    CHECK(fired({.threshold_inactivity = 0.5, .threshold_layer = 0}, run).empty());
}

TEST_CASE("dead_relu: NaN is not active, infinity is; one axis is one sample; what is no layer of reals is skipped") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("nan", {not_a_number, not_a_number}, {2, 1}),
                           tensor_of<float>("inf", {-inf, inf}, {2, 1}), tensor_of<float>("flat", {0, 0, 1}),
                           tensor_of<float>("flat_alive", {0, 1, 1}), tensor_of<float>("scalar", {0}, {}),
                           tensor_of<float>("empty", {}, {0, 4}),
                           written_tensor{"bools", dtype::boolean, {2, 1}, std::vector<std::byte>(2)},
                           written_tensor{"text", dtype::string, {0}, {}},
                           tensor_of<std::complex<float>>("complex", {{-1, 0}})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = "."}, run) == names{"bools", "flat", "nan"});
    CHECK(noted({.tensor_regex = "."}, run).empty());
}

TEST_CASE("dead_relu: judges by saved extrema where they prove something, and notes where they do not") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {saved("max", "dead", 0), saved("min", "alive", 0.5F), saved("max", "some", 1),
                           saved("min", "some", 0), saved("mean", "unknown", 1), saved("max", "nan", not_a_number),
                           saved("max", "scalar", 0), saved("max", "shaped", 0)},
               .shapes = {{"scalar", "scalar", {}}, {"shaped", "shaped", {2, 2}}}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = "."}, run) == names{"dead", "shaped"});
    CHECK(noted({.tensor_regex = "."}, run) == names{"nan", "some", "unknown"});
    CHECK(fired({.tensor_regex = ".", .threshold_layer = 100}, run).empty());
    const auto found = dead_relu{.tensor_regex = "^dead"}(run, 0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == 100);
    CHECK(found[0].message == "no value is active: all nodes are dead, more than 50%");
}

TEST_CASE("dead_relu: where saved extrema decide, they decide as the values that they come from") {
    std::mt19937 random{3};
    for (int round = 0; round < 40; ++round) {
        std::vector<float> values(6);
        for (float& each : values) {
            each = static_cast<float>(static_cast<int>(random() % 3) + round % 4 - 3);
        }
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        memory_storage full;
        memory_storage reduced;
        run_builder{full}.collections().step({.step = 0, .tensors = {tensor_of<float>("t", values, {2, 3})}}).end();
        run_builder{reduced}
            .collections()
            .step({.step = 0, .tensors = {saved("min", "t", *low), saved("max", "t", *high)}})
            .end();
        const memory_trial from_values{full};
        const memory_trial from_reductions{reduced};
        const dead_relu rule{.tensor_regex = "t"};
        CHECK(noted(rule, from_values).empty());
        CHECK(noted(rule, from_reductions).size() == (*high > 0 && *low <= 0 ? 1U : 0U));
        if (noted(rule, from_reductions).empty()) {
            CHECK(fired(rule, from_values) == fired(rule, from_reductions));
        }
    }
}

TEST_CASE("dead_relu: looks at the first worker, or at all of them") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("relu_output", {1})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<float>("relu_output", {0})}, .worker = "worker_1"}).end();
    const memory_trial run{store};
    CHECK(invoke_rule(dead_relu{}, run).findings.empty());
    const auto outcome = invoke_rule(dead_relu{.all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE("dead_relu: a layer that cannot be read is noted, and the others are judged") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("a_relu_output", {0}), tensor_of<float>("b_relu_output", {0})}})
        .end();
    const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
    const byte_buffer whole = store.read(key);
    store.write(key, whole.view().first(whole.size() - 5));
    const memory_trial run{store};
    CHECK(fired({}, run) == names{"a_relu_output"});
    const auto found = dead_relu{.tensor_regex = "^b"}(run, 0);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].met);
    CHECK(found[0].damaged);
}

TEST_CASE("dead_relu: works on reductions alone, as far as extrema decide") {
    const memory_trial run = reduced_run({{"alive", {{0, {1, 2}}}}, {"dead", {{0, {0, -1}}}}, {"some", {{0, {0, 1}}}}});
    CHECK(fired({.tensor_regex = "."}, run) == names{"dead"});
    CHECK(noted({.tensor_regex = "."}, run) == names{"some"});
}

TEST_CASE("dead_relu: needs a regex, and percentages") {
    CHECK_NOTHROW(dead_relu{}.check());
    CHECK(thrown_code([&] { static_cast<void>(dead_relu{.tensor_regex = text_list{}}.check()); }) ==
          error_code::insufficient_information);
    CHECK_THROWS_WITH_AS(dead_relu{.threshold_inactivity = 101}.check(),
                         "SMDebugValueError: dead_relu: threshold_inactivity is 101; it must be from 0 to 100",
                         value_error);
    CHECK_THROWS_AS(dead_relu{.threshold_layer = -1}.check(), value_error);
}
