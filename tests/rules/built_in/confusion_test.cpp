#include <smdebug/rules/built_in/confusion.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::confusion;
using rules::confusion_share;
using steps_list = std::vector<step_number>;
using numbers = std::vector<double>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();
const numbers ten{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
const numbers one_wrong{0, 1, 2, 3, 7, 5, 6, 7, 8, 9};

std::vector<finding> findings(const numbers& labels, const numbers& predictions, const confusion& rule = {}) {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of("labels", labels), tensor_of("predictions", predictions)}})
        .end();
    return rule(memory_trial{store}, 0);
}

bool fires(const numbers& labels, const numbers& predictions, const confusion& rule = {}) {
    const auto found = findings(labels, predictions, rule);
    return !found.empty() && found.back().met;
}

}  // namespace

TEST_CASE("confusion: a perfect classifier does not fire; its tensors are found by their collections") {
    std::mt19937 random{1};
    std::vector<std::int64_t> drawn(100);
    for (auto& each : drawn) {
        each = static_cast<std::int64_t>(random() % 10);
    }
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"labels", {"y"}}, {"preds", {"y_hat"}}})
        .step({.step = 0, .tensors = {tensor_of("y", drawn), tensor_of("y_hat", drawn)}})
        .end();
    const memory_trial run{store};
    const confusion rule{.labels = "y", .predictions = "", .predictions_collection = "preds", .min_diag = 1};
    CHECK(rule(run, 0).empty());
    drawn[0] = (drawn[0] + 1) % 10;
    memory_storage other;
    run_builder{other}
        .collections({"worker_0"}, {{"labels", {"y"}}, {"preds", {"y_hat"}}})
        .step({.step = 0, .tensors = {tensor_of("y", drawn), tensor_of("y_hat", std::vector<std::int64_t>(100))}})
        .end();
    const memory_trial bad{other};
    CHECK(confusion{.predictions_collection = "preds"}(bad, 0).size() == 1);
    CHECK(confusion{}(bad, 0).empty());  // no such collection
}

TEST_CASE("confusion: one wrong of ten fires at the step of the service's own examples") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0, .tensors = {tensor_of("foo", ten), tensor_of("bar", ten)}})
        .step({.step = 1, .tensors = {tensor_of("foo", ten), tensor_of("bar", one_wrong)}})
        .step({.step = 2, .tensors = {tensor_of("foo", ten)}})
        .step({.step = 3, .tensors = {tensor_of("bar", ten)}})
        .end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(confusion{.category_no = 10, .labels = "foo", .predictions = "bar"}, run);
    CHECK(outcome.met_at == steps_list{1});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "foo");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 0.5);
    CHECK(outcome.findings[0].threshold == 0.9);
    CHECK(outcome.findings[0].message ==
          "of 2 predicted as category 7, 1 are labelled as 7, a share of 0.5, less than 0.9");
    const confusion off{.labels = "foo", .predictions = "bar", .min_diag = 0, .max_off_diag = 0.01};
    const auto beside = invoke_rule(off, run);
    CHECK(beside.met_at == steps_list{1});
    REQUIRE(beside.findings.size() == 1);
    CHECK(beside.findings[0].threshold == 0.01);
    CHECK(beside.findings[0].message ==
          "of 2 predicted as category 7, 1 are labelled as 4, a share of 0.5, more than 0.01");
    CHECK_FALSE(fires(ten, ten));
}

TEST_CASE("confusion: the thresholds themselves are fine, and categories that are never predicted are passed over") {
    CHECK_FALSE(fires(ten, one_wrong, {.min_diag = 0.5, .max_off_diag = 0.5}));
    CHECK(fires(ten, one_wrong, {.min_diag = 0.5, .max_off_diag = 0.49}));
    CHECK_FALSE(fires({0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, numbers(10, 0)));  // 1 is never predicted
    CHECK(fires({0, 0, 1}, {1, 1, 1}));
    CHECK(fires({0}, {1}));  // the diagonal is 0 of 1
    CHECK(fires({0, 1}, {0, 1}) == false);
    CHECK(findings({0, 0, 1, 1, 1}, {1, 1, 0, 0, 1})[0].value == 0);  // the lowest share
}

TEST_CASE("confusion: shares of labels instead of predictions are one setting away") {
    const numbers labels{0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    const numbers all_zero(10, 0);
    const auto found = findings(labels, all_zero, {.share_of = confusion_share::labels});
    REQUIRE(found.size() == 1);
    CHECK(found[0].message == "of 1 labelled as category 1, 0 are predicted as 1, a share of 0, less than 0.9");
}

TEST_CASE("confusion: numbers with fractions are no categories, and their step is skipped, with the reason") {
    CHECK_THROWS_AS(findings({0, 1}, {0.1, 0.9}), tensor_unavailable_for_step);
    CHECK_THROWS_WITH_AS(
        findings({0.5, 1}, {0, 1}),
        "TensorUnavailableForStep: Value for tensor labels is not available for step 0 with mode GLOBAL as "
        "the number of a category, as 0.5 is not whole.",
        tensor_unavailable_for_step);
}

TEST_CASE("confusion: what is no category is left out and noted") {
    const auto found = findings({0, 1, -1, not_a_number, inf, 2, 0}, {0, 1, 0, 0, 0, 2, -inf}, {.category_no = 2});
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].met);
    CHECK(found[0].message == "5 of 7 labels and predictions were left out, as one of the two is not a category");
    CHECK(findings({-1}, {-1}).size() == 1);
    CHECK(findings({0, 2}, {0, 2}).empty());  // all integers are categories if no number is given
    const auto both = findings({0, 5}, {1, 5}, {.category_no = 2});
    REQUIRE(both.size() == 2);
    CHECK(both[1].met);
    CHECK_FALSE(fires({1e18, 3}, {1e18, 3}));
    CHECK(fires({1e18, 3}, {3, 1e18}));
}

TEST_CASE("confusion: counting in a matrix and sorting give the same") {
    std::mt19937 random{3};
    for (int round = 0; round < 20; ++round) {
        numbers labels(200);
        numbers predictions(200);
        for (std::size_t i = 0; i < labels.size(); ++i) {
            labels[i] = static_cast<double>(random() % 5);
            predictions[i] = random() % 4 == 0 ? static_cast<double>(random() % 5) : labels[i];
        }
        const confusion rule{.min_diag = round % 2 == 0 ? 0.9 : 0};
        const auto counted = findings(labels, predictions, rule);
        labels.push_back(1000);  // right, and beyond the matrix
        predictions.push_back(1000);
        const auto sorted = findings(labels, predictions, rule);
        REQUIRE(counted.size() == sorted.size());
        for (std::size_t i = 0; i < counted.size(); ++i) {
            CHECK(counted[i].message == sorted[i].message);
        }
    }
}

TEST_CASE("confusion: skips what does not fit together") {
    CHECK(findings({0, 1}, {1}).empty());
    CHECK(findings({}, {}).empty());
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"labels", {"a", "b"}}, {"predictions", {"c"}}})
        .step({.step = 0,
               .tensors = {tensor_of<float>("a", {1}),
                           tensor_of<float>("b", {1}),
                           tensor_of<float>("c", {0}),
                           tensor_of<std::complex<float>>("complex", {{1, 0}}),
                           {.name = "text", .type = dtype::string, .shape = {0}, .content = {}}}})
        .step({.step = 1, .tensors = {tensor_of<float>("a", {1}, {1, 1}), tensor_of<float>("c", {0}, {1})}})
        .end();
    const memory_trial run{store};
    CHECK(confusion{}(run, 0).empty());  // two tensors in the collection
    CHECK(confusion{}(run, 1).empty());
    CHECK(confusion{.labels = "complex"}(run, 0).empty());
    CHECK(confusion{.labels = "text"}(run, 0).empty());
    CHECK(confusion{.labels = "b"}(run, 1).empty());  // not saved there
    CHECK(confusion{.labels = "a"}(run, 1).size() == 1);
    CHECK(confusion{.labels = "a", .predictions = "none", .predictions_collection = ""}(run, 1).empty());
}

TEST_CASE("confusion: labels are compared with the predictions of the same worker") {
    const auto step = [](const std::string& worker, float prediction) {
        return written_step{.step = 0,
                            .tensors = {tensor_of<float>("labels", {1}), tensor_of<float>("predictions", {prediction})},
                            .worker = worker};
    };
    memory_storage store;
    run_builder{store}
        .collections({"worker_0", "worker_1", "worker_2"})
        .step(step("worker_0", 1))
        .step(step("worker_1", 0))
        .step({.step = 0, .tensors = {tensor_of<float>("labels", {5})}, .worker = "worker_2"})
        .end();
    const memory_trial run{store};
    CHECK(confusion{}(run, 0).empty());
    const auto found = confusion{.all_workers = true}(run, 0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].worker == "worker_1");
}

TEST_CASE("confusion: what was saved as reductions only is noted") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("smdebug/reductions/max/labels", {1}),
                           tensor_of<float>("smdebug/reductions/max/predictions", {1})}})
        .end();
    const auto notes = confusion{}(memory_trial{store}, 0);
    REQUIRE(notes.size() == 2);
    CHECK(notes[0].tensor == "labels");
    CHECK(notes[1].tensor == "predictions");
    CHECK_FALSE(notes[0].met);
    const memory_trial only_reduces = reduced_run({{"labels", {{0, {0, 1}}}}, {"predictions", {{0, {0, 1}}}}});
    REQUIRE(confusion{}(only_reduces, 0).size() == 2);
    CHECK_FALSE(confusion{}(only_reduces, 0)[0].met);
}

TEST_CASE("confusion: refuses settings that make no sense") {
    CHECK_NOTHROW(confusion{}.check());
    CHECK_THROWS_AS(confusion{.category_no = 1}.check(), value_error);
    for (const double bad : {-0.1, 1.1, not_a_number}) {
        CHECK_THROWS_AS(confusion{.min_diag = bad}.check(), value_error);
        CHECK_THROWS_AS(confusion{.max_off_diag = bad}.check(), value_error);
    }
    CHECK(thrown_code([&] { static_cast<void>(confusion{.labels = "", .labels_collection = ""}.check()); }) ==
          error_code::insufficient_information);
    CHECK(thrown_code([&] { static_cast<void>(confusion{.predictions = "", .predictions_collection = ""}.check()); }) ==
          error_code::insufficient_information);
    static_assert(described_rule<confusion> && checked_rule<confusion>);
}
