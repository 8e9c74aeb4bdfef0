#include <smdebug/rules/built_in/unchanged_tensor.hpp>

#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::unchanged_tensor;
using steps_list = std::vector<step_number>;

static_assert(described_rule<unchanged_tensor> && checked_rule<unchanged_tensor>);

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Saves "w" with these values, at steps 0, 1, ...
memory_storage saves(const std::vector<std::vector<float>>& all, const std::string& name = "w") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (std::size_t i = 0; i < all.size(); ++i) {
        build.step({.step = static_cast<step_number>(i), .tensors = {tensor_of<float>(name, all[i])}});
    }
    build.end();
    return store;
}

steps_list met_at(const memory_storage& store, unchanged_tensor rule = {.tensor_regex = ".*"}) {
    return invoke_rule(rule, memory_trial{store}).met_at;
}

}  // namespace

TEST_CASE("unchanged_tensor: fires at the step of the specification's example, also when started there") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    const std::vector<float> ones(60, 1);
    for (step_number step = 0; step < 3; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of("foo_0", ones, {10, 3, 2}), tensor_of("foo_1", ones, {10, 3, 2}),
                                tensor_of("foo_2", ones, {10, 3, 2})}});
    }
    build.step({.step = 5, .tensors = {tensor_of("boo_0", ones, {10, 3, 2}), tensor_of("boo_1", ones, {10, 3, 2})}});
    build.end();
    const memory_trial run{store};
    const unchanged_tensor rule{.tensor_regex = ".*"};
    const auto outcome = invoke_rule(rule, run);
    CHECK(outcome.met_at == steps_list{2});
    REQUIRE(outcome.findings.size() == 3);
    CHECK(outcome.findings[0].tensor == "foo_0");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 3);
    CHECK(outcome.findings[0].threshold == 3);
    CHECK(outcome.findings[0].message ==
          "unchanged in its last 3 saves, since step 0: every value within 1e-08 + "
          "1e-05 * |value|");
    CHECK(invoke_rule(rule, run, {.start_step = 2}).met_at == steps_list{2});
    CHECK(invoke_rule(rule, run, {.start_step = 3}).met_at.empty());
}

TEST_CASE("unchanged_tensor: saves count, not steps, and the newest are compared with all older ones of the window") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (const step_number step : {0, 7, 100, 101}) {
        build.step({.step = step, .tensors = {tensor_of<float>("w", {step == 0 ? 2.0F : 1.0F})}});
        build.step({.step = step + 1, .tensors = {tensor_of<float>("other", {static_cast<float>(step)})}});
    }
    build.end();
    CHECK(met_at(store, {.tensor_regex = "^w$"}) == steps_list{101});
    CHECK(met_at(store, {.tensor_regex = "^w$", .num_steps = 2}) == steps_list{100, 101});
    // each step is close to the previous one, but the third is not close to the first
    CHECK(met_at(saves({{1}, {1.000008F}, {1.000016F}})).empty());
    CHECK(met_at(saves({{1}, {1.000008F}, {1.000016F}}), {.tensor_regex = "w", .rtol = 1e-4}) == steps_list{2});
    CHECK(met_at(saves({{0}, {0}, {0.5}}), {.tensor_regex = "w", .atol = 0.5}) == steps_list{2});
}

TEST_CASE("unchanged_tensor: NaN, infinities, other shapes, empty tensors, text and complex numbers") {
    constexpr float inf = std::numeric_limits<float>::infinity();
    CHECK(met_at(saves({{not_a_number}, {not_a_number}, {not_a_number}})).empty());
    CHECK(met_at(saves({{not_a_number}, {not_a_number}, {not_a_number}}), {.tensor_regex = "w", .equal_nan = true}) ==
          steps_list{2});
    CHECK(met_at(saves({{inf}, {inf}, {inf}})) == steps_list{2});
    CHECK(met_at(saves({{1}, {1}, {1, 1}})).empty());
    CHECK(met_at(saves({{}, {}, {}})).empty());
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 3; ++step) {
        build.step({.step = step,
                    .tensors = {tensor_of<std::complex<double>>("c", {{1, 1}}),
                                written_tensor{"text", dtype::string, {0}, {}}}});
    }
    build.end();
    CHECK(met_at(store).empty());
}

TEST_CASE("unchanged_tensor: with all_workers each worker's own saves count") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    for (step_number step = 0; step < 3; ++step) {
        build.step(
            {.step = step, .tensors = {tensor_of<float>("w", {static_cast<float>(step)})}, .worker = "worker_0"});
        build.step({.step = step, .tensors = {tensor_of<float>("w", {1})}, .worker = "worker_1"});
    }
    build.end();
    const memory_trial run{store};
    CHECK(invoke_rule(unchanged_tensor{.tensor_regex = "w"}, run).met_at.empty());
    const auto outcome = invoke_rule(unchanged_tensor{.tensor_regex = "w", .all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE(
    "unchanged_tensor: the first worker by name counts at each step, and a collection that is not there is none") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"}, {{"weights", {"w"}}});
    build.step({.step = 0, .tensors = {tensor_of<float>("w", {1})}, .worker = "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("other", {1})}, .worker = "worker_0"});
    for (const std::string worker : {"worker_0", "worker_1"}) {
        build.step(
            {.step = 1, .tensors = {tensor_of<float>("w", {worker == "worker_0" ? 1.0F : 2.0F})}, .worker = worker});
    }
    build.end();
    CHECK(met_at(store, {.collection_names = "weights", .num_steps = 2}) == steps_list{1});
    CHECK(met_at(store, {.collection_names = "biases", .num_steps = 2}).empty());
}

TEST_CASE("unchanged_tensor: reductions prove a change; where they do not, a tensor without values is noted") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    for (step_number step = 0; step < 3; ++step) {
        const float changing = static_cast<float>(step);
        build.step({.step = step,
                    .tensors = {tensor_of<float>("smdebug/reductions/abs_max/abs", {changing}),
                                tensor_of<float>("smdebug/reductions/max/max", {changing}),
                                tensor_of<float>("smdebug/reductions/min/max", {0}),
                                tensor_of<float>("smdebug/reductions/max/min", {9}),
                                tensor_of<float>("smdebug/reductions/min/min", {changing}),
                                tensor_of<float>("smdebug/reductions/max/same", {1}),
                                tensor_of<float>("smdebug/reductions/min/same", {0})}});
    }
    build.end();
    const memory_trial run{store};
    CHECK(unchanged_tensor{.tensor_regex = "."}(run, 1).empty());
    const auto found = unchanged_tensor{.tensor_regex = "."}(run, 2);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].met);
    CHECK(found[0].tensor == "same");
}

TEST_CASE("unchanged_tensor: says the same with and without reductions to look at first") {
    std::mt19937 random{3};
    for (int round = 0; round < 60; ++round) {
        memory_storage store;
        run_builder build{store};
        build.collections();
        std::vector<float> values(5, 1);
        for (step_number step = 0; step < 6; ++step) {
            if (random() % 3 == 0) {
                values[random() % 5] += random() % 2 == 0 ? 1e-6F : 0.25F;
            }
            float max = values[0];
            float min = values[0];
            for (const float each : values) {
                max = std::max(max, each);
                min = std::min(min, each);
            }
            build.step({.step = step,
                        .tensors = {tensor_of("bare", values), tensor_of("reduced", values),
                                    tensor_of<float>("smdebug/reductions/max/reduced", {max}),
                                    tensor_of<float>("smdebug/reductions/abs_max/reduced", {max}),
                                    tensor_of<float>("smdebug/reductions/min/reduced", {min})}});
        }
        build.end();
        CHECK(met_at(store, {.tensor_regex = "bare"}) == met_at(store, {.tensor_regex = "reduced"}));
    }
}

TEST_CASE("unchanged_tensor: works on reductions alone, and notes what cannot be read") {
    const memory_trial run =
        reduced_run({{"w", {{0, {1, 2}}, {1, {1, 2}}, {2, {1, 2}}}}, {"x", {{0, {1}}, {1, {1}}, {2, {2}}}}});
    const auto found = unchanged_tensor{.tensor_regex = "."}(run, 2);
    REQUIRE(found.size() == 1);
    CHECK(found[0].tensor == "w");
    CHECK_FALSE(found[0].met);
    CHECK_FALSE(found[0].message.empty());

    memory_storage store = saves({{1}, {1}, {1}});
    const std::string key = smdebug::detail::locations::event_key(1, "worker_0");
    const byte_buffer whole = store.read(key);
    store.write(key, whole.view().first(whole.size() - 5));
    const auto notes = unchanged_tensor{.tensor_regex = "."}(memory_trial{store}, 2);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].damaged);
    CHECK(notes[0].message.find("step 1") != std::string::npos);
}

TEST_CASE("unchanged_tensor: settings that make no sense are refused") {
    CHECK_NOTHROW(unchanged_tensor{.tensor_regex = "w"}.check());
    CHECK(thrown_code([&] { static_cast<void>(unchanged_tensor{}.check()); }) == error_code::insufficient_information);
    CHECK_THROWS_WITH_AS((unchanged_tensor{.tensor_regex = "w", .num_steps = 1}.check()),
                         doctest::Contains("num_steps is 1"), value_error);
    CHECK_THROWS_AS((unchanged_tensor{.tensor_regex = "w", .rtol = -1}.check()), value_error);
}
