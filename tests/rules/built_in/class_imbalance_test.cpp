#include <smdebug/rules/built_in/class_imbalance.hpp>

#include "rules/built_in/listed.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::class_imbalance;
using steps_list = std::vector<step_number>;
using numbers = std::vector<double>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

written_step step_of(step_number step, const numbers& labels, const std::optional<numbers>& predictions = {},
                     const std::string& worker = "worker_0") {
    written_step written{.step = step, .tensors = {tensor_of("labels", labels)}, .worker = worker};
    if (predictions) {
        written.tensors.push_back(tensor_of("predictions", *predictions));
    }
    return written;
}

/// The values of the findings at a single step.
numbers judged(const written_step& step, class_imbalance rule) {
    memory_storage store;
    run_builder{store}.collections().step(step).end();
    numbers found;
    for (const finding& one : invoke_rule(rule, memory_trial{store}).findings) {
        found.push_back(one.value);
    }
    return found;
}
numbers judged(const numbers& labels, const std::optional<numbers>& predictions, const class_imbalance& rule) {
    return judged(step_of(0, labels, predictions), rule);
}

const class_imbalance few{.threshold_imbalance = 100, .samples = 4};

}  // namespace

TEST_CASE("class_imbalance: fires at the step of the service's own example, for the ratio") {
    std::vector<std::int64_t> labels(1000);
    for (std::size_t i = 990; i < 1000; ++i) {
        labels[i] = 1;
    }
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step({.step = 0, .tensors = {tensor_of<float>("loss", {1})}});
    build.step({.step = 3, .tensors = {tensor_of("labels_0", labels)}}).end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(class_imbalance{.predictions_regex = "labels_0"}, run);
    CHECK(outcome.met_at == steps_list{3});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "labels_0");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 99);
    CHECK(outcome.findings[0].threshold == 10);
    CHECK(outcome.findings[0].message == "class 0 has 990 labels and class 1 10, a ratio of 99, more than 10");
    CHECK(invoke_rule(class_imbalance{.threshold_imbalance = 99}, run).findings.empty());
    CHECK(invoke_rule(class_imbalance{.labels_regex = "^none$"}, run).findings.empty());
    CHECK(invoke_rule(class_imbalance{.predictions_regex = text_list{}}, run).findings.size() == 1);
}

TEST_CASE("class_imbalance: fires for a class that is mostly predicted wrongly") {
    memory_storage store;
    run_builder{store}.collections().step(step_of(0, {0, 0, 1, 1}, numbers{0, 0, 0, 0})).end();
    const auto outcome = invoke_rule(class_imbalance{.samples = 4}, memory_trial{store});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].value == 1);
    CHECK(outcome.findings[0].threshold == 0.7);
    CHECK(outcome.findings[0].message ==
          "of 2 labels of class 1, 2 were predicted wrongly, a share of 1, more than 0.7");
    CHECK(judged({0, 0, 1, 1}, numbers{0, 0, 0, 1}, few).empty());
    CHECK(judged({0, 0, 0, 1}, numbers{1, 0, 0, 0}, {.threshold_imbalance = 2, .samples = 4}) == numbers{3, 1});
}

TEST_CASE("class_imbalance: counts from the first step that it is given, and judges at steps with labels") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step(step_of(0, {0, 0, 0}));
    build.step(step_of(2, {1}, {}));
    build.step({.step = 3, .tensors = {tensor_of<float>("loss", {1})}});
    build.step(step_of(4, {1, 1, 2, 2, 2}));
    build.end();
    const memory_trial run{store};
    const class_imbalance rule{.threshold_imbalance = 2, .samples = 4};
    CHECK(invoke_rule(class_imbalance{rule}, run).met_at == steps_list{2});
    CHECK(invoke_rule(class_imbalance{rule}, run, {.start_step = 1}).findings.empty());
    CHECK(invoke_rule(class_imbalance{.threshold_imbalance = 2, .samples = 5}, run).findings.empty());
    class_imbalance kept = rule;
    CHECK(invoke_rule(kept, run, {.end_step = 2}).findings.empty());
    CHECK(invoke_rule(kept, run, {.start_step = 2}).met_at == steps_list{2});
}

TEST_CASE("class_imbalance: labels that are no class are ignored, and do not count as seen") {
    struct row {
        numbers labels;
        double threshold;
        std::int64_t samples;
        numbers ratios;
    };
    for (const row& each : std::vector<row>{{{0, 0, 0, -1, not_a_number, inf, -inf, 0x1p63}, 0, 4, {}},
                                            {{0, 0, 0, 1, -100}, 2, 4, {3}},
                                            {{-1, -1}, 1, 0, {}},
                                            {{5, 5, 5, 5}, 0.5, 4, {1}}}) {  // one class
        CAPTURE(listed(each.labels));
        CHECK(judged(each.labels, {}, {.threshold_imbalance = each.threshold, .samples = each.samples}) == each.ratios);
    }
}

TEST_CASE("class_imbalance: a step with fractions as labels or predictions is skipped, with what to set") {
    for (const auto& [labels, predictions] : {std::pair<numbers, numbers>{{0.5, 1}, {0, 1}}, {{0, 1}, {0.1, 0.9}}}) {
        memory_storage store;
        run_builder{store}.collections().step(step_of(0, labels, predictions)).end();
        class_imbalance rule{.samples = 0};
        const rule_result result = result_of(rule, invoke_rule(rule, memory_trial{store}));
        CHECK(result.outcome.findings.empty());
        CHECK(result.outcome.skipped == 1);
        CHECK(result.status == rule_status::not_applicable);
        CHECK(result.details.find(labels[0] == 0.5
                                      ? "as 0.5 is not whole."
                                      : "as 0.1 is not whole. If these are probabilities, set argmax=true.") !=
              std::string::npos);
    }
}

TEST_CASE("class_imbalance: labels without a usable prediction are left out of the share") {
    struct row {
        numbers predictions;
        numbers shares;
    };
    for (const row& each : std::vector<row>{{{0, 0, not_a_number, 0}, {1}},
                                            {{0, 0, 1, inf}, {}},
                                            {{0, 0, -1, -1}, {1}},  // wrong, though no class
                                            {{0, 0, 0}, {}},        // another length
                                            {{}, {}}}) {
        CAPTURE(listed(each.predictions));
        CHECK(judged({0, 0, 1, 1}, each.predictions, few) == each.shares);
    }
    CHECK(judged({0, 0, -1, 1}, numbers{0, 0, 1, 1}, {.samples = 3}).empty());
}

TEST_CASE("class_imbalance: argmax takes the largest of each row, the first of equals, and no row with NaN") {
    const class_imbalance rule{.threshold_imbalance = 100, .samples = 3, .argmax = true};
    const auto with = [&](const numbers& labels, const numbers& rows, shape_type shape) {
        written_step step = step_of(0, labels);
        step.tensors.push_back(tensor_of("predictions", rows, std::move(shape)));
        return judged(step, rule);
    };
    CHECK(with({0, 1, 1}, {.9, .1, .2, .8, .3, .7}, {3, 2}).empty());
    CHECK(with({0, 1, 1}, {.9, .1, .8, .2, .5, .5}, {3, 2}) == numbers{1});
    CHECK(with({1, 1, 1}, {not_a_number, 1, 0, not_a_number, -inf, 1}, {3, 2}).empty());
    CHECK(with({1, 1, 1}, {not_a_number, 1, 0, not_a_number, 1, -inf}, {3, 1, 2}) == numbers{1});
    CHECK(with({1, 1, 1}, {0, 0, 0}, {3}).empty());  // one row: another length
    CHECK(with({1, 1, 1}, {0}, {}).empty());
    CHECK(with({1, 1, 1}, {}, {3, 0}).empty());
    written_step halves = step_of(0, {1, 1, 1});
    const float16 low{0.25F};
    const float16 high{0.75F};
    halves.tensors.push_back(tensor_of<float16>("predictions", {low, high, high, low, high, low}, {3, 2}));
    CHECK(judged(halves, {.threshold_misprediction = 0.5, .samples = 3, .argmax = true}) == numbers{2.0 / 3});
}

TEST_CASE("class_imbalance: the first tensors by name that were saved at the step are taken, of any real type") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<std::uint8_t>("b_labels", {0, 1, 1, 1}), tensor_of<std::int8_t>("c_labels", {}),
                           tensor_of<std::complex<float>>("d_predictions", {})}})
        .step({.step = 1, .tensors = {tensor_of<std::complex<float>>("a_labels", {{1, 0}})}})
        .step({.step = 2, .tensors = {tensor_of<float>("a_labels", {}), tensor_of<float>("b_labels", {1, 1, 1})}})
        .step({.step = 3, .tensors = {{.name = "a_labels", .type = dtype::string, .shape = {0}, .content = {}}}})
        .end();
    const memory_trial run{store};
    class_imbalance rule{.threshold_imbalance = 2, .samples = 4};
    CHECK(rule(run, 0).size() == 1);
    CHECK(rule(run, 1).empty());
    CHECK(rule(run, 2).empty());
    CHECK(rule(run, 3).empty());
    CHECK(rule(run, 0).size() == 1);
}

TEST_CASE("class_imbalance: labels are compared with the predictions of their worker; all workers count together") {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0", "worker_1", "worker_2"})
        .step(step_of(0, {0, 0}, numbers{0, 0}, "worker_0"))
        .step(step_of(0, {1, 1}, numbers{0, 0}, "worker_1"))
        .step(step_of(0, {0, 1}, {}, "worker_2"))
        .end();
    const memory_trial run{store};
    class_imbalance first{.samples = 2};
    CHECK(first(run, 0).empty());
    class_imbalance all{.samples = 6, .all_workers = true};
    const auto found = all(run, 0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].met);
    CHECK(found[0].message.find("of 2 labels of class 1, 2 were") != std::string::npos);
}

TEST_CASE("class_imbalance: a step that is skipped for one worker's labels does not count for the others") {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0", "worker_1"})
        .step(step_of(0, {0, 0}, {}, "worker_0"))
        .step(step_of(0, {0.5}, {}, "worker_1"))
        .step(step_of(1, {0, 1}, {}, "worker_0"))
        .end();
    const memory_trial run{store};
    class_imbalance rule{.threshold_imbalance = 2, .samples = 3, .all_workers = true};
    CHECK_THROWS_AS(static_cast<void>(rule(run, 0)), tensor_unavailable_for_step);
    CHECK(rule(run, 1).empty());
}

TEST_CASE("class_imbalance: labels of which only reductions were saved are noted; such predictions, too") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of<float>("smdebug/reductions/max/labels", {1})}})
        .step({.step = 1,
               .tensors = {tensor_of<float>("labels", {0, 0, 0, 1}),
                           tensor_of<float>("smdebug/reductions/max/predictions", {1})}})
        .end();
    const memory_trial run{store};
    class_imbalance rule{.threshold_imbalance = 2, .samples = 4};
    const auto notes = rule(run, 0);
    REQUIRE(notes.size() == 1);
    CHECK_FALSE(notes[0].met);
    CHECK(notes[0].tensor == "labels");
    const auto found = rule(run, 1);
    REQUIRE(found.size() == 2);
    CHECK(found[0].tensor == "predictions");
    CHECK_FALSE(found[0].met);
    CHECK(found[1].value == 3);
    class_imbalance other{.labels_regex = "^labels$"};
    const memory_trial only_reduces = reduced_run({{"labels", {{0, {0, 1}}}}});
    REQUIRE(other(only_reduces, 0).size() == 1);
    CHECK_FALSE(other(only_reduces, 0)[0].met);
}

TEST_CASE("class_imbalance: refuses settings that make no sense") {
    using self = class_imbalance;
    CHECK_NOTHROW(self{}.check());
    CHECK_THROWS_AS(self{.threshold_imbalance = not_a_number}.check(), value_error);
    CHECK_THROWS_AS(self{.threshold_imbalance = -1}.check(), value_error);
    CHECK_THROWS_AS(self{.threshold_misprediction = 1.5}.check(), value_error);
    CHECK_THROWS_AS(self{.samples = -1}.check(), value_error);
    CHECK(thrown_code([&] { static_cast<void>(self{.labels_regex = text_list{}}.check()); }) ==
          error_code::insufficient_information);
    static_assert(described_rule<self> && checked_rule<self>);
}
