#include <smdebug/rules/built_in/vanishing_gradient.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::vanishing_gradient;

namespace {
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
}

TEST_CASE("vanishing_gradient: fires at the step of the specification's example") {
    const memory_trial run = small_run({{"g", {{0, {1e-3, -2e-3}}, {1, {5e-8, -5e-8}}}}}, {{"gradients", {"g"}}});
    CHECK(vanishing_gradient{}(run, 0).empty());
    const auto found = vanishing_gradient{}(run, 1);
    REQUIRE(found.size() == 1);
    CHECK(found[0].met);
    CHECK(found[0].tensor == "g");
    CHECK(found[0].worker == "worker_0");
    CHECK(found[0].value == doctest::Approx(5e-8));
    CHECK(found[0].threshold == 1e-7);
    CHECK_FALSE(found[0].message.empty());
}

TEST_CASE(
    "vanishing_gradient: NaN never fires, zeros do, the threshold itself does not, and every tensor is looked at") {
    const memory_trial run = small_run({{"nan", {{0, {not_a_number, 0}}}},
                                        {"zero", {{0, {0, 0}}}},
                                        {"at", {{0, {0.5}}}},
                                        {"below", {{0, {-0.25}}}},
                                        {"other", {{0, {0}}}}},
                                       {{"gradients", {"nan", "zero", "at", "below"}}});
    std::vector<std::string> fired;
    for (const finding& one : vanishing_gradient{.threshold = 0.5}(run, 0)) {
        if (one.met) {
            fired.push_back(one.tensor);
        }
    }
    CHECK(fired == std::vector<std::string>{"below", "zero"});
}

TEST_CASE("vanishing_gradient: uses a saved abs_mean, and all workers if asked to") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"gradients", {"g"}}});
    build.step({.step = 0, .tensors = {tensor_of<float>("smdebug/reductions/abs_mean/g", {1})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<float>("smdebug/reductions/abs_mean/g", {0})}, .worker = "worker_1"});
    build.end();
    const memory_trial run{store};
    CHECK(invoke_rule(vanishing_gradient{}, run).findings.empty());
    const auto outcome = invoke_rule(vanishing_gradient{.all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE("vanishing_gradient: a gradient that cannot be read is noted, and the others are judged") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"gradients", {"bad", "good"}}});
    build.step({.step = 0, .tensors = {tensor_of<float>("good", {0}), tensor_of<float>("bad", {0})}}).end();
    const std::string key = smdebug::detail::locations::event_key(0, "worker_0");
    const byte_buffer whole = store.read(key);
    store.write(key, whole.view().first(whole.size() - 5));
    const memory_trial run{store};
    std::vector<finding> notes;
    const auto outcome = invoke_rule(vanishing_gradient{}, run,
                                     {.on_note = [&](step_number, const finding& note) { notes.push_back(note); }});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "good");
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].damaged);
    CHECK(notes[0].tensor == "bad");
}

TEST_CASE("vanishing_gradient: with patience at so many saves in a row; a step that is given again counts once") {
    const memory_trial run =
        small_run({{"g", {{0, {0}}, {1, {0}}, {2, {1}}, {3, {0}}, {5, {0}}, {6, {0}}}}}, {{"gradients", {"g"}}});
    const vanishing_gradient rule{.patience = 2};
    std::vector<step_number> fires;
    for (const step_number step : {0, 0, 1, 1, 2, 3, 5, 6, 0}) {
        fires.insert(fires.end(), rule(run, step).size(), step);
    }
    CHECK(fires == std::vector<step_number>{1, 1, 5, 6});
    CHECK_THROWS_AS(vanishing_gradient{.patience = 0}.check(), value_error);
    CHECK_THROWS_AS(vanishing_gradient{.threshold = not_a_number}.check(), value_error);
}

TEST_CASE("vanishing_gradient: names can be left out") {
    memory_storage store;
    run_builder{store}
        .collections({"worker_0"}, {{"gradients", {"fc.bias", "fc.weight"}}})
        .step({.step = 0, .tensors = {tensor_of<float>("fc.bias", {0}), tensor_of<float>("fc.weight", {0})}})
        .end();
    const auto found = invoke_rule(vanishing_gradient{.exclude_regex = "(?i)BIAS"}, memory_trial{store}).findings;
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == "fc.weight");
}
