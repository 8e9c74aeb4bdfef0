#include <smdebug/rules/built_in/tensor_variance.hpp>

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
using rules::tensor_variance;
using steps_list = std::vector<step_number>;
using names = std::vector<std::string>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

names fired(const tensor_variance& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), true);
}

names noted(const tensor_variance& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), false);
}

}  // namespace

TEST_CASE("tensor_variance: fires as in the specification's example, also where the tensor is missing at other steps") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"w"}}});
    build.step({.step = 0, .tensors = {tensor_of<float>("other", {0, 100})}})
        .step({.step = 1, .tensors = {tensor_of<float>("w", {0, 2})}})
        .step({.step = 2, .tensors = {tensor_of<float>("w", {0, 20, 0, 20})}})
        .end();
    const memory_trial run{store};
    const names both{"weights", "never_saved"};
    const auto large = invoke_rule(tensor_variance{.collection_names = both, .max_threshold = 0.5}, run);
    CHECK(large.met_at == steps_list{1, 2});
    REQUIRE(large.findings.size() == 2);
    CHECK(large.findings[0].tensor == "w");
    CHECK(large.findings[0].value == 1);
    CHECK(large.findings[0].threshold == 0.5);
    CHECK(large.findings[0].message == "the variance 1 is above 0.5");
    const auto small = invoke_rule(tensor_variance{.collection_names = both, .min_threshold = 2}, run);
    CHECK(small.met_at == steps_list{1});
    REQUIRE(small.findings.size() == 1);
    CHECK(small.findings[0].threshold == 2);
    CHECK(small.findings[0].message == "the variance 1 is below 2");
    const tensor_variance between{.collection_names = both, .max_threshold = 10, .min_threshold = 1e-5};
    CHECK(invoke_rule(between, run).met_at == steps_list{2});  // 100; 1 is fine, and the shape may change
    CHECK(invoke_rule(tensor_variance{.collection_names = both, .max_threshold = 1, .min_threshold = 1}, run).met_at ==
          steps_list{2});
    CHECK(invoke_rule(tensor_variance{.collection_names = "never_saved", .min_threshold = 9}, run).findings.empty());
}

TEST_CASE("tensor_variance: one value has none; NaN, infinities, empty tensors, strings and complex ones never fire") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("one", {7}), tensor_of<float>("nan", {0, not_a_number}),
                           tensor_of<float>("inf", {0, inf}), tensor_of<float>("empty", {}),
                           written_tensor{"text", dtype::string, {0}, {}}, tensor_of<std::int32_t>("ints", {0, 4}),
                           tensor_of<std::complex<float>>("complex", {{0, 0}, {9, 9}})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = ".", .min_threshold = 1e-5}, run) == names{"one"});
    CHECK(fired({.tensor_regex = ".", .max_threshold = 3.5}, run) == names{"ints"});
    CHECK(fired({.collection_names = "x", .tensor_regex = "^i", .max_threshold = 3.5}, run) == names{"ints"});
    CHECK(noted({.tensor_regex = ".", .max_threshold = 3.5, .min_threshold = 1e-5}, run).empty());
}

TEST_CASE("tensor_variance: uses a saved variance as it is, or a saved std, and notes where there is neither") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {saved("variance", "variance", 4), saved("std", "deviation", 2),
                           saved("variance", "nan", not_a_number), saved("variance", "overflowed", inf),
                           saved("mean", "mean", 9), saved("variance", "both", 4), tensor_of<float>("both", {0, 0})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = ".", .max_threshold = 3.9}, run) ==
          names{"both", "deviation", "overflowed", "variance"});
    CHECK(fired({.tensor_regex = ".", .min_threshold = 4.1}, run) == names{"both", "deviation", "variance"});
    CHECK(noted({.tensor_regex = ".", .min_threshold = 4.1}, run) == names{"mean"});
}

TEST_CASE("tensor_variance: a run of saved reductions gives the verdicts of the run of values that they come from") {
    std::mt19937 random{1};
    std::uniform_real_distribution<float> any{-2, 2};
    for (int round = 0; round < 40; ++round) {
        std::vector<float> values(1 + random() % 9);
        double mean = 0;
        for (float& each : values) {
            each = any(random);
            mean += static_cast<double>(each) / static_cast<double>(values.size());
        }
        double variance = 0;
        for (const float each : values) {
            const double apart = static_cast<double>(each) - mean;
            variance += apart * apart / static_cast<double>(values.size());
        }
        memory_storage store;
        run_builder{store}
            .collections()
            .step({.step = 0,
                   .tensors = {tensor_of<float>("values", values),
                               saved("variance", "reduction", static_cast<float>(variance))}})
            .end();
        const memory_trial run{store};
        CHECK(fired({.tensor_regex = ".", .max_threshold = 1}, run) ==
              (variance > 1 ? names{"reduction", "values"} : names{}));
        CHECK(fired({.tensor_regex = ".", .min_threshold = 1}, run) ==
              (variance < 1 ? names{"reduction", "values"} : names{}));
    }
}

TEST_CASE("tensor_variance: looks at the first worker, or at all of them") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("t", {0, 2})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<float>("t", {0, 0})}, .worker = "worker_1"}).end();
    const memory_trial run{store};
    CHECK(invoke_rule(tensor_variance{.tensor_regex = "t", .min_threshold = 0.5}, run).findings.empty());
    const auto outcome =
        invoke_rule(tensor_variance{.tensor_regex = "t", .min_threshold = 0.5, .all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE("tensor_variance: works on reductions alone") {
    const memory_trial run = reduced_run({{"a", {{0, {0, 2}}}}, {"b", {{0, {0, 1}}, {1, {5}}}}});
    CHECK(fired({.tensor_regex = ".", .max_threshold = 0.5}, run) == names{"a"});
    CHECK(fired({.tensor_regex = ".", .min_threshold = 0.5}, run) == names{"b"});
}

TEST_CASE("tensor_variance: needs tensors to look at, and thresholds that leave room") {
    CHECK(thrown_code([&] { static_cast<void>(tensor_variance{.max_threshold = 1}.check()); }) ==
          error_code::insufficient_information);
    CHECK(thrown_code([&] { static_cast<void>(tensor_variance{.tensor_regex = "t"}.check()); }) ==
          error_code::insufficient_information);
    CHECK_NOTHROW((tensor_variance{.tensor_regex = "t", .max_threshold = 1}.check()));
    CHECK_NOTHROW((tensor_variance{.collection_names = "t", .max_threshold = 1, .min_threshold = 1}.check()));
    CHECK_THROWS_WITH_AS((tensor_variance{.tensor_regex = "t", .max_threshold = 1, .min_threshold = 2}.check()),
                         "SMDebugValueError: tensor_variance: min_threshold is 2, which is above max_threshold, 1",
                         value_error);
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_AS((tensor_variance{.tensor_regex = "t", .max_threshold = none}.check()), value_error);
    CHECK_THROWS_AS((tensor_variance{.tensor_regex = "t", .min_threshold = none}.check()), value_error);
}
