#include <smdebug/rules/built_in/all_zero.hpp>

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
using rules::all_zero;
using steps_list = std::vector<step_number>;
using names = std::vector<std::string>;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

names fired(const all_zero& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), true);
}

names noted(const all_zero& rule, const readable_trial auto& run, step_number step = 0) {
    return tensors_in(rule(run, step), false);
}

}  // namespace

TEST_CASE("all_zero: fires at the steps of the specification's example, also where the tensor is missing at others") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0"}, {{"weights", {"w"}}});
    build.step({.step = 0, .tensors = {tensor_of<float>("w", {0, 0, 0, 1})}})
        .step({.step = 1, .tensors = {tensor_of<float>("other", {0})}})
        .step({.step = 2, .tensors = {tensor_of<float>("w", {0, 0, 0, 0})}})
        .end();
    const memory_trial run{store};
    const all_zero all{.collection_names = {"weights", "never_saved"}};
    const auto outcome = invoke_rule(all, run);
    CHECK(outcome.met_at == steps_list{2});
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].tensor == "w");
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == 100);
    CHECK(outcome.findings[0].threshold == 100);
    CHECK(outcome.findings[0].message == "all values are zero");
    const auto share = invoke_rule(all_zero{.collection_names = "weights", .threshold = 75}, run);
    CHECK(share.met_at == steps_list{0, 2});
    REQUIRE(share.findings.size() == 2);
    CHECK(share.findings[0].value == 75);
    CHECK(share.findings[0].message == "3 of 4 values (75%) are zero, which is at least 75%");
    CHECK(invoke_rule(all_zero{.collection_names = "weights", .threshold = 75.1}, run).met_at == steps_list{2});
    CHECK(invoke_rule(all_zero{.collection_names = "never_saved"}, run).findings.empty());
}

TEST_CASE(
    "all_zero: -0.0 is a zero, NaN and infinities are none; empty tensors, strings and complex ones are skipped") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("negative", {0, -0.0F}), tensor_of<float>("nan", {0, not_a_number}),
                           tensor_of<float>("inf", {0, -inf}), tensor_of<float>("empty", {}),
                           written_tensor{"text", dtype::string, {0}, {}}, tensor_of<std::int64_t>("ints", {0, 0}),
                           tensor_of<double>("tiny", {5e-324}), tensor_of<std::complex<float>>("complex", {{0, 0}})}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = "."}, run) == names{"ints", "negative"});
    CHECK(fired({.tensor_regex = ".", .threshold = 50}, run) == names{"inf", "ints", "nan", "negative"});
    CHECK(fired({.tensor_regex = ".", .threshold = 0}, run) == names{"inf", "ints", "nan", "negative", "tiny"});
    CHECK(noted({.tensor_regex = "."}, run).empty());
    CHECK(noted({.tensor_regex = ".", .threshold = 50}, run).empty());
    CHECK(fired({.collection_names = "nothing", .tensor_regex = "^in"}, run) == names{"ints"});
}

TEST_CASE("all_zero: judges by saved reductions where they prove something, and notes where they do not") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {saved("abs_max", "zero", 0), saved("abs_max", "not_zero", 1),
                           saved("abs_max", "nan", not_a_number), saved("min", "zero_too", 0),
                           saved("max", "zero_too", 0), saved("min", "above", 1), saved("max", "below", -1),
                           saved("min", "unknown", 0), saved("sum", "cancelled", 0), saved("l2", "underflowed", 0),
                           saved("mean", "some", 0.5F), saved("std", "overflowed", inf)}})
        .end();
    const memory_trial run{store};
    CHECK(fired({.tensor_regex = "."}, run) == names{"zero", "zero_too"});
    CHECK(noted({.tensor_regex = "."}, run) == names{"cancelled", "overflowed", "underflowed", "unknown"});
    CHECK(fired({.tensor_regex = ".", .threshold = 50}, run) == names{"zero", "zero_too"});
    CHECK(noted({.tensor_regex = ".", .threshold = 50}, run) ==
          names{"cancelled", "nan", "not_zero", "overflowed", "some", "underflowed", "unknown"});
}

TEST_CASE("all_zero: a run of saved reductions gives the verdicts of the run of values that they come from") {
    std::mt19937 random{1};
    for (int round = 0; round < 50; ++round) {
        std::vector<float> values(1 + random() % 4);
        for (float& each : values) {
            each = static_cast<float>(static_cast<int>(random() % 3) - 1) * static_cast<float>(round % 2);
        }
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        memory_storage full;
        memory_storage reduced;
        run_builder{full}.collections().step({.step = 0, .tensors = {tensor_of<float>("t", values)}}).end();
        run_builder{reduced}
            .collections()
            .step({.step = 0,
                   .tensors = {saved("min", "t", *low), saved("max", "t", *high),
                               saved("abs_max", "t", std::max(-*low, *high))}})
            .end();
        const memory_trial from_values{full};
        const memory_trial from_reductions{reduced};
        CHECK(fired({.tensor_regex = "t"}, from_values) == fired({.tensor_regex = "t"}, from_reductions));
        const auto zeros = static_cast<double>(std::count(values.begin(), values.end(), 0.0F));
        const bool half = 100 * zeros / static_cast<double>(values.size()) >= 50;
        CHECK(fired({.tensor_regex = "t", .threshold = 50}, from_values).size() == (half ? 1U : 0U));
    }
}

TEST_CASE("all_zero: looks at the first worker, or at all of them") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<float>("t", {1})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<float>("t", {0, 0})}, .worker = "worker_1"}).end();
    const memory_trial run{store};
    CHECK(invoke_rule(all_zero{.tensor_regex = "t"}, run).findings.empty());
    const auto outcome = invoke_rule(all_zero{.tensor_regex = "t", .all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE("all_zero: works on reductions alone, with notes where it would have to count") {
    const memory_trial run =
        reduced_run({{"none", {{0, {1, 2}}}}, {"some", {{0, {0, 1}}}}, {"zero", {{0, {0, 0}}, {1, {1, 1}}}}});
    CHECK(fired({.tensor_regex = "."}, run) == names{"zero"});
    CHECK(noted({.tensor_regex = "."}, run).empty());
    CHECK(fired({.tensor_regex = ".", .threshold = 75}, run) == names{"zero"});
    CHECK(noted({.tensor_regex = ".", .threshold = 75}, run) == names{"some"});
    CHECK(fired({.tensor_regex = "."}, run, 1).empty());
}

TEST_CASE("all_zero: needs tensors to look at, and a percentage") {
    CHECK(thrown_code([&] { static_cast<void>(all_zero{}.check()); }) == error_code::insufficient_information);
    CHECK_NOTHROW(all_zero{.tensor_regex = "t"}.check());
    CHECK_NOTHROW((all_zero{.collection_names = "losses", .threshold = 0}.check()));
    CHECK_THROWS_WITH_AS((all_zero{.tensor_regex = "t", .threshold = 101}.check()),
                         "SMDebugValueError: all_zero: threshold is 101; it must be from 0 to 100", value_error);
    CHECK_THROWS_AS((all_zero{.tensor_regex = "t", .threshold = -1}.check()), value_error);
    CHECK_THROWS_AS((all_zero{.tensor_regex = "t", .threshold = static_cast<double>(not_a_number)}.check()),
                    value_error);
}
