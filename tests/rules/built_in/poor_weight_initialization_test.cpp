#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/built_in/poor_weight_initialization.hpp>

#include "rules/built_in/listed.hpp"
#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/reduce/quantiles.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::poor_weight_initialization;
using steps_list = std::vector<step_number>;
using names = std::vector<std::string>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

// A run with these tensors at step 0.
memory_storage one_step(const std::vector<written_tensor>& tensors, const std::vector<written_shape>& shapes = {}) {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"gradients", {"g", "g2", "g3"}}, {"losses", {"loss", "loss2"}}})
        .step({.step = 0, .tensors = tensors, .shapes = shapes})
        .end();
    return store;
}

// The rule's result at step 0: names of tensors, in findings that are met or in notes.
names said(const memory_storage& store, bool met, poor_weight_initialization rule = {}) {
    return tensors_in(rule(memory_trial{store}, 0), met);
}
names fired(const memory_storage& store, poor_weight_initialization rule = {}) {
    return said(store, true, std::move(rule));
}
names noted(const memory_storage& store, poor_weight_initialization rule = {}) {
    return said(store, false, std::move(rule));
}

// A run of one loss, at the steps 0, 1, ...; a loss of -1 is not saved there.
memory_storage losses(const std::vector<float>& values) {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"loss"}}});
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto tensor =
            values[i] == -1 ? tensor_of<float>("other", {1}) : tensor_of<float>("loss", {values[i]}, shape_type{});
        build.step({.step = static_cast<step_number>(i), .tensors = {tensor}});
    }
    build.end();
    return store;
}

std::vector<float> equally_spaced(float largest) {
    std::vector<float> values;
    for (int i = -10; i <= 10; ++i) {
        values.push_back(largest * static_cast<float>(i) / 10);
    }
    return values;
}

}  // namespace

TEST_CASE("poor_weight_initialization: fires on unlike variances as in the specification's example") {
    const memory_storage unlike =
        one_step({tensor_of<float>("a_relu_input", {0, 2}), tensor_of<float>("b_relu_input", {0, 8})});
    const auto outcome = invoke_rule(poor_weight_initialization{}, memory_trial{unlike});
    CHECK(outcome.met_at == steps_list{0});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "b_relu_input");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 16);
    CHECK(outcome.findings[0].threshold == 10);
    CHECK(outcome.findings[0].message == "its variance 16 is 16 times that of a_relu_input, 1: more than 10");
    CHECK(
        fired(one_step({tensor_of<float>("a_relu_input", {0, 2}), tensor_of<float>("b_relu_input", {0, 6})})).empty());
    CHECK(fired(unlike, {.activation_inputs_regex = "^a"}).empty());
    CHECK(fired(unlike, {.activation_inputs_regex = text_list{}}).empty());
    CHECK(fired(unlike, {.threshold = 16}).empty());
}

TEST_CASE("poor_weight_initialization: a variance of 0 beside another is infinitely smaller; NaN is left out") {
    const auto input = [](const std::string& name, const std::vector<float>& values) {
        return tensor_of<float>(name + "_relu_input", values);
    };
    CHECK(fired(one_step({input("a", {1, 1}), input("b", {0, 1})})) == names{"b_relu_input"});
    CHECK(fired(one_step({input("a", {1, 1}), input("b", {2, 2})})).empty());
    CHECK(fired(one_step({input("a", {0, 1}), input("b", {not_a_number, 2})})).empty());
    CHECK(fired(one_step({input("a", {0, 1}), input("b", {inf, 2}), input("c", {0, 9})})) == names{"c_relu_input"});
    CHECK(fired(one_step({input("a", {0, 1}), input("b", {})})).empty());
    const memory_storage others =
        one_step({input("a", {0, 1}), written_tensor{"text_relu_input", dtype::string, {0}, {}},
                  tensor_of<std::complex<float>>("complex_relu_input", {{0, 0}, {0, 9}})});
    CHECK(fired(others).empty());
    CHECK(noted(others).empty());
    const memory_storage reduced = one_step(
        {saved("variance", "a_relu_input", 1), saved("std", "b_relu_input", 4), saved("mean", "c_relu_input", 1)});
    CHECK(fired(reduced) == names{"b_relu_input"});
    CHECK(noted(reduced) == names{"c_relu_input"});
}

TEST_CASE("poor_weight_initialization: fires on narrow gradients as in the specification's example") {
    memory_storage store = one_step({tensor_of<float>("g", equally_spaced(1e-4F))});
    const auto found = invoke_rule(poor_weight_initialization{}, memory_trial{store});
    CHECK(found.met_at == steps_list{0});
    REQUIRE(found.findings.size() == 1);
    CHECK(found.findings[0].tensor == "g");
    CHECK(found.findings[0].value == doctest::Approx(1.8e-4));
    CHECK(found.findings[0].threshold == 0.001);
    CHECK(found.findings[0].message == "nearly all of the gradient lies within 0.00018, less than 0.001");
    CHECK(fired(one_step({tensor_of<float>("g", equally_spaced(1))})).empty());
    CHECK(fired(one_step({tensor_of<float>("g", equally_spaced(1))}), {.distribution_range = 1.81}) == names{"g"});
    CHECK(fired(one_step({tensor_of<float>("not_g", {0})})).empty());
}

TEST_CASE("poor_weight_initialization: the narrowest gradient is named; NaN, infinities and what is empty are not") {
    CHECK(fired(one_step({tensor_of<float>("g", equally_spaced(1)), tensor_of<float>("g2", equally_spaced(1e-5F)),
                          tensor_of<float>("g3", equally_spaced(1e-4F))})) == names{"g2"});
    const memory_storage others = one_step(
        {tensor_of<float>("g", {0, not_a_number}), tensor_of<float>("g2", {-inf, 0, inf}), tensor_of<float>("g3", {})});
    CHECK(fired(others).empty());
    CHECK(noted(others).empty());
    CHECK(fired(one_step({written_tensor{"g", dtype::string, {0}, {}}, tensor_of<std::complex<float>>("g2", {{0, 0}})}))
              .empty());
}

TEST_CASE("poor_weight_initialization: a gradient of one element is not narrow, as that of the bias of one output") {
    CHECK(fired(one_step({tensor_of<float>("g", {-0.08F}), tensor_of<double>("g2", {0})})).empty());
    CHECK(noted(one_step({tensor_of<float>("g", {-0.08F})})).empty());
    CHECK(fired(one_step({tensor_of<float>("g", {-0.08F}), tensor_of<float>("g2", {0.5F, 0.5F})})) == names{"g2"});
}

TEST_CASE("poor_weight_initialization: saved extrema prove that a gradient is narrow, and nothing else") {
    const memory_storage store = one_step({saved("min", "g", 0), saved("max", "g", 0.0005F), saved("min", "g2", -1),
                                           saved("max", "g2", 1), saved("std", "g3", 0)});
    CHECK(fired(store) == names{"g"});
    CHECK(noted(store) == names{"g2", "g3"});
    std::mt19937 random{1};
    for (int round = 0; round < 40; ++round) {  // if they fire, the values do
        std::vector<float> values(2 + random() % 30);
        for (float& each : values) {
            each = static_cast<float>(random() % 1000) * 2e-6F;
        }
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        if (!fired(one_step({saved("min", "g", *low), saved("max", "g", *high)})).empty()) {
            CHECK(fired(one_step({tensor_of<float>("g", values)})) == names{"g"});
        }
    }
}

TEST_CASE("poor_weight_initialization: fires on a loss that does not fall as in the specification's example") {
    const memory_storage store = losses({1.0F, 1.1F, 1.1F, 1.2F, 1.3F, 1.1F});
    const auto outcome = invoke_rule(poor_weight_initialization{}, memory_trial{store});
    CHECK(outcome.met_at == steps_list{5});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "loss");
    CHECK(outcome.findings[0].value == 5);
    CHECK(outcome.findings[0].threshold == 5);
    CHECK(outcome.findings[0].message == "for 5 saves in a row the loss has not been below 1");
}

TEST_CASE("poor_weight_initialization: equal losses, NaN and infinities are no new minimum; a step without is none") {
    struct row {
        std::vector<float> values;
        poor_weight_initialization rule;
        steps_list met_at;
    };
    for (const row& each : std::vector<row>{{{3, 2, 1, 1, 1}, {.patience = 2}, {4}},
                                            {{3, 4, 4, 2, 3, 3}, {.patience = 2}, {2, 5}},
                                            {{not_a_number, inf, 5, not_a_number, 6}, {.patience = 2}, {1, 4}},
                                            {{1, -1, 1, -1, 1, -1}, {.patience = 2}, {4}},
                                            {{1, 1, 1, 1, 1, 1}, {.patience = 2, .steps = 4}, {2, 3}},
                                            {{1, 1, 1, 1, 1, 1}, {.patience = 2, .steps = 2}, {}},
                                            {{1, 1, 1}, {.patience = 3}, {}}}) {
        CAPTURE(listed(each.values));
        CHECK(invoke_rule(poor_weight_initialization{each.rule}, memory_trial{losses(each.values)}).met_at ==
              each.met_at);
    }
}

TEST_CASE("poor_weight_initialization: several losses count by their mean, and only scalars are losses") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"losses", {"a", "b", "per_sample"}}});
    const std::vector<std::pair<float, float>> values{{1, 5}, {2, 3}, {0, 6}, {3, 3}};  // means 3, 2.5, 3, 3
    for (std::size_t i = 0; i < values.size(); ++i) {
        build.step({.step = static_cast<step_number>(i),
                    .tensors = {tensor_of<float>("a", {values[i].first}), saved("mean", "b", values[i].second),
                                tensor_of<float>("per_sample", {not_a_number, 1})},
                    .shapes = {{"b", "b", {}}}});
    }
    build.end();
    const auto outcome = invoke_rule(poor_weight_initialization{.patience = 2}, memory_trial{store});
    CHECK(outcome.met_at == steps_list{3});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor.empty());
    CHECK(outcome.findings[0].message == "for 2 saves in a row the loss has not been below 2.5");
}

TEST_CASE("poor_weight_initialization: `steps` counts saves, and of TRAIN only where there are any") {
    const auto run_of = [](const std::vector<std::pair<step_number, mode>>& steps) {
        memory_storage store;
        run_builder build{store};
        build.collections({"worker_0"}, {{"gradients", {"g"}}});
        for (const auto& [step, in] : steps) {
            build.step({.step = step, .tensors = {tensor_of<float>("g", {0, 0})}, .mode = in});
        }
        build.end();
        return store;
    };
    const auto met_at = [](const memory_storage& store, poor_weight_initialization rule) {
        return invoke_rule(rule, memory_trial{store}).met_at;
    };
    const auto train = mode::train;
    const auto eval = mode::eval;
    CHECK(met_at(run_of({{0, train}, {500, train}, {1000, train}}), {.steps = 2}) == steps_list{0, 500});
    CHECK(met_at(run_of({{0, eval}, {1, train}, {2, eval}, {3, train}, {4, train}}), {.steps = 2}) == steps_list{1, 3});
    CHECK(met_at(run_of({{0, eval}, {7, eval}, {9, eval}}), {.steps = 2}) == steps_list{0, 7});
    CHECK(met_at(run_of({{0, train}, {1, train}, {2, train}}), {.steps = 2.5}) == steps_list{0, 1, 2});
    const memory_storage store = run_of({{0, train}, {500, train}, {1000, train}});
    CHECK(invoke_rule(poor_weight_initialization{.steps = 2}, memory_trial{store}, {.start_step = 1}).met_at ==
          steps_list{500, 1000});  // counted from the first step that the rule is called with
}

TEST_CASE("poor_weight_initialization: the first step of TRAIN in a growing run starts it anew") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"gradients", {"g"}}});
    build.step({.step = 0, .tensors = {tensor_of<float>("g", {0, 0})}, .mode = mode::eval});
    const memory_trial run{store};
    poor_weight_initialization rule{.steps = 1};
    CHECK(rule(run, 0).size() == 1);
    build.step({.step = 1, .tensors = {tensor_of<float>("g", {0, 0})}});
    build.step({.step = 2, .tensors = {tensor_of<float>("g", {0, 0})}}).end();
    CHECK(run.steps() == steps_list{0, 1, 2});
    CHECK(rule(run, 1).size() == 1);
    CHECK(rule(run, 2).empty());
}

TEST_CASE("poor_weight_initialization: a step that is judged again counts once") {
    const memory_storage store = losses({1, 1, 1, 1});
    const memory_trial run{store};
    poor_weight_initialization rule{.patience = 2, .steps = 3};
    for (const step_number step : {0, 0, 0, 1, 1, 1}) {
        CHECK(rule(run, step).empty());
    }
    CHECK(rule(run, 2).size() == 1);
    CHECK(rule(run, 2).size() == 1);
    CHECK(rule(run, 3).empty());
}

TEST_CASE("poor_weight_initialization: what cannot be read is noted, and does not hide the rest") {
    memory_storage store = one_step({tensor_of<float>("a_relu_input", {0, 2}), tensor_of<float>("b_relu_input", {0, 8}),
                                     tensor_of<float>("loss", {1}), tensor_of<float>("g", {0, 0})});
    const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
    const byte_buffer whole = store.read(key);
    store.write(key, whole.view().first(whole.size() - 5));
    CHECK(fired(store) == names{"b_relu_input"});
    CHECK(noted(store) == names{"g"});
}

TEST_CASE("poor_weight_initialization: looks at the first worker") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"gradients", {"g"}}});
    build.step({.step = 0, .tensors = {tensor_of<float>("g", {0, 9})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<float>("g", {0, 0})}, .worker = "worker_1"}).end();
    CHECK(invoke_rule(poor_weight_initialization{}, memory_trial{store}).findings.empty());
}

TEST_CASE("poor_weight_initialization: works on reductions alone") {
    const memory_trial run = reduced_run({{"a_relu_input", {{0, {0, 2}}}},
                                          {"b_relu_input", {{0, {0, 8}}}},
                                          {"g", {{0, {0, 9}}}},
                                          {"loss", {{0, {1}}, {1, {2}}}}},
                                         {{"gradients", {"g"}}, {"losses", {"loss"}}});
    poor_weight_initialization rule{.patience = 1};
    const auto first = rule(run, 0);
    REQUIRE(first.size() == 3);
    CHECK(first[0].tensor == "g");
    CHECK_FALSE(first[0].met);
    CHECK(first[2].met);
    CHECK(first[2].value == 16);
    CHECK(first[1].tensor == "loss");
    CHECK_FALSE(first[1].met);
    const auto second = rule(run, 1);  // nothing shows that a loss is a scalar
    REQUIRE(second.size() == 1);
    CHECK(second[0].tensor == "loss");
    CHECK_FALSE(second[0].met);
}

TEST_CASE("poor_weight_initialization: rejects settings that make no sense") {
    CHECK_NOTHROW(poor_weight_initialization{}.check());
    CHECK_THROWS_WITH_AS(
        poor_weight_initialization{.patience = 0}.check(),
        "SMDebugValueError: poor_weight_initialization: patience is 0; it must be a number of at least 1", value_error);
    CHECK_THROWS_AS(poor_weight_initialization{.threshold = -1}.check(), value_error);
    CHECK_THROWS_AS(poor_weight_initialization{.distribution_range = std::nan("")}.check(), value_error);
    CHECK_THROWS_AS(poor_weight_initialization{.steps = 0}.check(), value_error);
}

TEST_CASE("poor_weight_initialization: a tensor that is found wide by a part of it is that wide") {
    std::mt19937 random{3};
    std::size_t told = 0;
    std::size_t narrow = 0;
    for (const std::size_t count : {511U, 512U, 1024U, 5000U, 40'000U}) {
        for (const double core : {0.5, 0.88, 0.9, 0.92, 1.0}) {  // share of close values; quantiles leave out 0.1
            for (const float spread : {0.0F, 1e-4F, 1.0F}) {
                std::vector<float> values(count);
                std::normal_distribution<float> normal;
                for (std::size_t i = 0; i < count; ++i) {
                    const bool inside = static_cast<double>(i) < core * static_cast<double>(count);
                    values[i] = inside ? spread * normal(random) : (i % 2 == 0 ? 5.0F : -5.0F);
                }
                std::shuffle(values.begin(), values.end(), random);
                // At an odd address, like elements in files.
                std::vector<std::byte> bytes(1 + count * sizeof(float));
                std::memcpy(bytes.data() + 1, values.data(), count * sizeof(float));
                const std::vector<std::size_t> shape{count};
                const tensor_view view{dtype::float32, shape, std::span<const std::byte>{bytes}.subspan(1), {}};
                const rules::detail::quantile_width measure{{0.05, 0.95}, 0.001};
                const auto ends = quantiles(view, measure.between);
                const double exact = (*ends)[1] - (*ends)[0];
                const double width = measure(view);
                if (smdebug::is_infinite(width)) {
                    ++told;
                    CHECK(exact >= 0.001);
                } else {
                    CHECK(width == exact);
                }
                narrow += exact < 0.001 ? 1U : 0U;
            }
        }
    }
    CHECK(told >= 20);
    CHECK(narrow >= 10);
}

TEST_CASE("poor_weight_initialization: an infinite or lost element does not make a wide tensor infinitely wide") {
    const rules::detail::quantile_width measure{{0.05, 0.95}, 0.001};
    const auto width_of = [&](float first) {
        std::vector<float> values(2048);
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = i / 8 % 2 == 0 ? 5.0F : -5.0F;
        }
        values[0] = first;  // one of the first elements that the rule samples
        const std::vector<std::size_t> shape{values.size()};
        return measure({dtype::float32, shape, std::as_bytes(std::span{values}), {}});
    };
    CHECK(width_of(5) == inf);  // decided by a part of it
    CHECK(width_of(inf) == 10);
    CHECK(width_of(-inf) == 10);
    CHECK(smdebug::is_nan(width_of(not_a_number)));
}
