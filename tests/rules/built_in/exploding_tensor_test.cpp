#include <smdebug/core/float_kinds.hpp>
#include <smdebug/rules/built_in/exploding_tensor.hpp>

#include "support/rule_verdicts.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::exploding_tensor;
using steps_list = std::vector<step_number>;
using names = std::vector<std::string>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

names fired(const exploding_tensor& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), true);
}

}  // namespace

TEST_CASE("exploding_tensor: fires at the steps of the specification's example, from wherever it starts") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"gradients", {"foo_0", "foo_1", "foo_2"}}});
    for (step_number step = 0; step < 3; ++step) {
        const float value = step == 1 ? 1 : not_a_number;
        build.step({.step = step,
                    .tensors = {tensor_of<float>("foo_0", {value}), tensor_of<float>("foo_1", {value}),
                                tensor_of<float>("foo_2", {value})}});
    }
    build.end();
    const memory_trial run{store};
    const exploding_tensor rule{.collection_names = {"gradients", "weights"}};
    CHECK(invoke_rule(rule, run).met_at == steps_list{0, 2});
    CHECK(invoke_rule(rule, run, {.start_step = 1}).met_at == steps_list{2});
    CHECK(invoke_rule(rule, run).findings.size() == 6);
}

TEST_CASE(
    "exploding_tensor: an infinity counts, unless only NaN is selected; integers, strings and empty tensors never "
    "do") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step(
            {.step = 0,
             .tensors = {tensor_of<float>("nan", {1, not_a_number}), tensor_of<float>("inf", {1, -inf}),
                         tensor_of<float>("fine", {1, 2}), tensor_of<std::int64_t>("ints", {1, 2}),
                         tensor_of<float>("empty", {}),
                         tensor_of<std::complex<double>>("complex", {{1, std::numeric_limits<double>::quiet_NaN()}})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({}, run) == names{"complex", "inf", "nan"});
    CHECK(fired({.only_nan = true}, run) == names{"complex", "nan"});
    CHECK(fired({.tensor_regex = "^in"}, run) == names{"inf"});
    const auto found = exploding_tensor{.tensor_regex = "^inf"}(run, 0);
    REQUIRE(found.size() == 1);
    CHECK(found[0].value == -std::numeric_limits<double>::infinity());
    CHECK(found[0].message == "0 NaN and 1 infinite of 2 values");
    CHECK(smdebug::is_nan(found[0].threshold));
}

TEST_CASE("exploding_tensor: judges by saved reductions where they prove something, and notes where they do not") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("smdebug/reductions/max/max_nan", {not_a_number}),
                           tensor_of<float>("smdebug/reductions/min/min_inf", {-inf}),
                           tensor_of<float>("smdebug/reductions/abs_max/fine", {3}),
                           tensor_of<float>("smdebug/reductions/min/fine2", {-3}),
                           tensor_of<float>("smdebug/reductions/max/fine2", {3}),
                           tensor_of<float>("smdebug/reductions/l2/fine3", {3}),
                           tensor_of<float>("smdebug/reductions/sum/overflowed", {inf})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({}, run) == names{"max_nan", "min_inf"});
    CHECK(fired({.only_nan = true}, run) == names{"max_nan"});
    names notes;
    for (const finding& one : exploding_tensor{}(run, 0)) {
        if (!one.met && !one.message.empty()) {
            notes.push_back(one.tensor);
        }
    }
    CHECK(notes == names{"overflowed"});
}

TEST_CASE("exploding_tensor: works on reductions alone") {
    const memory_trial run =
        reduced_run({{"a", {{0, {1.0, std::numeric_limits<double>::infinity()}}}}, {"b", {{0, {1.0}}}}});
    CHECK(fired({}, run) == names{"a"});
}
