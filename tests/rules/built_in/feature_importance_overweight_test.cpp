#include <smdebug/rules/built_in/feature_importance_overweight.hpp>

#include "rules/built_in/listed.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::feature_importance_overweight;
using steps_list = std::vector<step_number>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

std::string feature(std::size_t i) { return "feature_importance/weight/f" + std::to_string(i); }

/// A step with one scalar for each importance.
written_step importances(step_number step, const std::vector<double>& values, const std::string& before = "") {
    written_step written{.step = step};
    for (std::size_t i = 0; i < values.size(); ++i) {
        written.tensors.push_back(tensor_of<double>(before + feature(i), {values[i]}));
    }
    return written;
}

bool fires(const std::vector<double>& values, const feature_importance_overweight& rule = {}) {
    memory_storage store;
    run_builder{store}.collections().step(importances(0, values)).end();
    return !invoke_rule(rule, memory_trial{store}).findings.empty();
}

}  // namespace

TEST_CASE("feature_importance_overweight: fires at the step of the specification's example") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step(importances(0, {0.3, 0.25, 0.2, 0.15, 0.1}));
    build.step({.step = 5, .tensors = {tensor_of<double>("loss", {1})}});
    build.step(importances(10, {0.3, 0.5, 0.1, 0.1}));
    build.end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(feature_importance_overweight{}, run);
    CHECK(outcome.met_at == steps_list{10});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == feature(1));
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == doctest::Approx(0.9));
    CHECK(outcome.findings[0].threshold == 0.8);
    CHECK(outcome.findings[0].message ==
          "the largest 3 of 4 feature importances make up 0.9 of their sum, more than 0.8");
    CHECK(invoke_rule(feature_importance_overweight{.threshold = 0.7}, run).met_at == steps_list{0, 10});
    CHECK(invoke_rule(feature_importance_overweight{.nfeatures = 2}, run).findings.empty());
    CHECK(invoke_rule(feature_importance_overweight{.tensor_regex = "feature_importance/gain"}, run).findings.empty());
}

TEST_CASE("feature_importance_overweight: shares are of the sum; a sum of zero and NaN do not fire") {
    struct row {
        std::vector<double> importances;
        feature_importance_overweight rule;
        bool fires;
    };
    const std::vector<row> rows{{{50, 30, 10, 10}, {}, true},
                                {{30, 25, 20, 15, 10}, {}, false},
                                {{0.25, 0.25}, {}, true},  // fewer features than are summed
                                {{0.25, 0.25}, {.threshold = 1}, false},
                                {{0.1, 0.7, 0.1, 0.1}, {.threshold = 1, .nfeatures = 99}, false},
                                {{0, 0, 0, 0}, {}, false},
                                {{-1, -1, -1, -1}, {}, false},
                                {{0.5, 0.3, 0.1, not_a_number}, {}, false},
                                {{0.5, inf, 0.1, 0.1}, {}, false},
                                {{1, 1, 1, 1}, {.threshold = 0.75}, false}};  // at the threshold
    for (const row& each : rows) {
        CAPTURE(listed(each.importances));
        CAPTURE(each.rule.threshold);
        CHECK(fires(each.importances, each.rule) == each.fires);
    }
}

TEST_CASE("feature_importance_overweight: only scalars of real numbers are importances") {
    memory_storage store;
    written_step step = importances(0, {0.3, 0.25, 0.2, 0.15, 0.1});
    for (const char* name : {"many", "none", "text", "complex"}) {
        const std::string full = "feature_importance/weight/" + std::string{name};
        if (full.ends_with("many")) {
            step.tensors.push_back(tensor_of<double>(full, {9, 9}));
        } else if (full.ends_with("none")) {
            step.tensors.push_back(tensor_of<double>(full, {}));
        } else if (full.ends_with("complex")) {
            step.tensors.push_back(tensor_of<std::complex<double>>(full, {{9, 9}}));
        } else {
            step.tensors.push_back({.name = full, .type = dtype::string, .shape = {0}, .content = {}});
        }
    }
    written_step whole = step;
    whole.step = 1;
    whole.tensors.push_back(tensor_of<std::int32_t>("feature_importance/weight/ints", {9}, {}));  // rank 0
    run_builder{store}.collections().step(step).step(whole).end();
    const memory_trial run{store};
    CHECK(feature_importance_overweight{}(run, 0).empty());
    CHECK(feature_importance_overweight{}(run, 1).size() == 1);
}

TEST_CASE("feature_importance_overweight: judges by saved reductions where they show a scalar") {
    const auto saved = [](const std::string& what, std::size_t i, float value) {
        return tensor_of<float>("smdebug/reductions/" + what + "/" + feature(i), {value});
    };
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const bool scalar : {true, false}) {
        build.step({.step = scalar ? 0 : 1,
                    .tensors = {saved("mean", 0, 0.9F), saved("mean", 1, 0.1F), saved("min", 0, 0.9F),
                                saved("max", 0, scalar ? 0.9F : 1.0F)},
                    .shapes = {{feature(1), "b", {1}}}});
    }
    build.step({.step = 2, .tensors = {saved("mean", 0, 0.9F)}}).end();
    const memory_trial run{store};
    const feature_importance_overweight rule{.threshold = 0.85, .nfeatures = 1};
    REQUIRE(rule(run, 0).size() == 1);
    CHECK(rule(run, 0)[0].value == doctest::Approx(0.9));
    CHECK(rule(run, 1)[0].message.find("1 of 1 ") != std::string::npos);
    REQUIRE(rule(run, 2).size() == 1);
    CHECK_FALSE(rule(run, 2)[0].met);  // a mean of an unknown number of values
}

TEST_CASE("feature_importance_overweight: works on reductions alone") {
    const memory_trial run = reduced_run({{"a", {{0, {0.95}}}}, {"b", {{0, {0.02}}}}, {"c", {{0, {0.03, 5}}}}});
    const auto found = feature_importance_overweight{.nfeatures = 1, .tensor_regex = "^.$"}(run, 0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == "a");
    CHECK(found[0].value == doctest::Approx(0.95 / 0.97));
}

TEST_CASE("feature_importance_overweight: does not judge a step of which an importance cannot be read") {
    memory_storage store;
    run_builder{store}.collections().step(importances(0, {0.5, 0.3, 0.1, 0.1})).end();
    const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
    const byte_buffer whole = store.read(key);
    store.write(key, whole.view().first(whole.size() - 5));
    const auto found = feature_importance_overweight{}(memory_trial{store}, 0);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].met);
    CHECK(found[0].damaged);
    CHECK(found[0].tensor == feature(3));
}

TEST_CASE("feature_importance_overweight: of several workers the first counts") {
    memory_storage store;
    written_step other = importances(0, {0.9, 0.1, 0.1, 0.1});
    other.worker = "worker_1";
    run_builder{store}
        .collections({"worker_0", "worker_1"})
        .step(importances(0, {0.25, 0.25, 0.25, 0.25}))
        .step(other)
        .end();
    CHECK(invoke_rule(feature_importance_overweight{}, memory_trial{store}).findings.empty());
}

TEST_CASE("feature_importance_overweight: refuses settings that make no sense") {
    using self = feature_importance_overweight;
    CHECK_NOTHROW(self{}.check());
    for (const double bad : {-0.1, 1.1, not_a_number}) {
        CHECK_THROWS_AS(self{.threshold = bad}.check(), value_error);
    }
    CHECK_THROWS_AS(self{.nfeatures = 0}.check(), value_error);
    CHECK(thrown_code([&] { static_cast<void>(self{.tensor_regex = text_list{}}.check()); }) ==
          error_code::insufficient_information);
    static_assert(described_rule<self> && checked_rule<self>);
}
