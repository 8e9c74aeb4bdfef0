#include <smdebug/rules/built_in/nlp_sequence_ratio.hpp>

#include "rules/built_in/listed.hpp"
#include "support/run_builder.hpp"
#include "support/small_run.hpp"
#include "support/test.hpp"
#include "support/thrown_code.hpp"

#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::nlp_sequence_ratio;
using steps_list = std::vector<step_number>;
using numbers = std::vector<double>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();
const std::string input = "embedding0_input_0";

/// The rule's result for a single tensor: percent and threshold, or nothing.
template <class T>
numbers judged(const std::vector<T>& tokens, const nlp_sequence_ratio& rule) {
    memory_storage store;
    run_builder{store}.collections().step({.step = 0, .tensors = {tensor_of(input, tokens)}}).end();
    const auto outcome = invoke_rule(rule, memory_trial{store});
    return outcome.findings.empty() ? numbers{} : numbers{outcome.findings[0].value, outcome.findings[0].threshold};
}

/// The share of one token according to the rule; 0 if it does not fire at 0 percent.
template <class T>
double percent_of(const std::vector<T>& tokens, double token, bool beside_another = false) {
    nlp_sequence_ratio rule{.token_values = {token}, .token_thresholds_percent = {0}};
    if (beside_another) {  // not only zero, and within any range: the values must be counted
        rule.token_values.push_back(static_cast<double>(tokens[0]));
    }
    const numbers found = judged(tokens, rule);
    return found.empty() ? 0 : found[0];
}

}  // namespace

TEST_CASE("nlp_sequence_ratio: fires at the step of the specification's example") {
    memory_storage store;
    run_builder build{store};
    build.collections();
    build.step({.step = 0, .tensors = {tensor_of<std::int64_t>(input, {5, 0, 0, 7, 8, 0}, {2, 3})}});
    build.step({.step = 3, .tensors = {tensor_of<std::int64_t>("other", {0})}});
    build.step({.step = 7, .tensors = {tensor_of<std::int64_t>("model/" + input, {5, 0, 0, 7, 0, 0}, {2, 3})}});
    build.step({.step = 9, .tensors = {tensor_of<std::int64_t>(input, {0}, {1, 1})}});  // another shape
    build.end();
    const memory_trial run{store};
    const auto outcome = invoke_rule(nlp_sequence_ratio{}, run);
    CHECK(outcome.met_at == steps_list{7, 9});
    REQUIRE(outcome.findings.size() == 2);
    CHECK(outcome.findings[0].tensor == "model/" + input);
    CHECK(outcome.findings[0].worker == "worker_0");
    CHECK(outcome.findings[0].value == doctest::Approx(100 * 4.0 / 6));
    CHECK(outcome.findings[0].threshold == 50);
    CHECK(outcome.findings[0].message == "66.6667 percent of the 6 values are the token 0, more than 50");
    CHECK(invoke_rule(nlp_sequence_ratio{.tensor_regex = "^other$"}, run).met_at == steps_list{3});
    CHECK(invoke_rule(nlp_sequence_ratio{.tensor_regex = "^none$"}, run).findings.empty());
}

TEST_CASE("nlp_sequence_ratio: each token has its threshold, or all have one, and thresholds too many are ignored") {
    const std::vector<std::int32_t> tokens{1, 1, 1, 2, 2, 0, 3, 4};
    struct row {
        numbers values;
        numbers thresholds;
        numbers found;
    };
    for (const row& each : std::vector<row>{{{1, 2}, {40, 20}, {25, 20}},
                                            {{1, 2}, {30, 20}, {37.5, 30}},
                                            {{0, 2}, {24}, {25, 24}},
                                            {{2}, {25, 0}, {}},  // at the threshold
                                            {{9, -1, 1.5}, {0}, {}},
                                            {{0}, {12, 0}, {12.5, 12}}}) {
        CAPTURE(listed(each.values));
        CAPTURE(listed(each.thresholds));
        CHECK(judged(tokens, {.token_values = each.values, .token_thresholds_percent = each.thresholds}) == each.found);
    }
}

TEST_CASE("nlp_sequence_ratio: tokens are counted in every real type, and values that the type cannot have are not") {
    CHECK(percent_of<std::uint8_t>({255, 1}, 255) == 50);
    CHECK(percent_of<std::uint8_t>({0, 1}, 256, true) == 50);  // only 0, the previous one in the list, occurs
    CHECK(percent_of<std::int8_t>({-1, 1}, -1) == 50);
    CHECK(percent_of<std::int8_t>({-1, 1}, 255, true) == 50);
    CHECK(percent_of<float>({0.1F, 1}, 0.1) == 0);  // a float is not 0.1
    CHECK(percent_of<float>({0.1F, 1}, static_cast<double>(0.1F)) == 50);
    CHECK(percent_of<float>({0.0F, -0.0F, 1, 2}, 0) == 50);
    CHECK(percent_of<double>({0.1, 1, 2, 3}, 0.1) == 25);
    CHECK(percent_of<float16>({float16{2.0F}, float16{1.0F}}, 2) == 50);
    CHECK(percent_of<bfloat16>({bfloat16{2.0F}, bfloat16{1.0F}}, 2) == 50);
    CHECK(percent_of<std::int64_t>({(std::int64_t{1} << 53) + 1, 1}, 0x1p53) == 50);  // compared as doubles
    CHECK(percent_of<std::uint64_t>({std::numeric_limits<std::uint64_t>::max(), 1}, 0x1p64) == 50);
    CHECK(percent_of<double>({not_a_number, inf, 3, 0}, 3) == 25);
    CHECK(percent_of<double>({not_a_number, inf, 3, 0}, 0) == 25);
}

TEST_CASE("nlp_sequence_ratio: the short ways give what counting gives") {
    std::mt19937 random{7};
    for (int round = 0; round < 20; ++round) {
        std::vector<std::int64_t> tokens(101);
        for (std::int64_t& token : tokens) {
            token = static_cast<std::int64_t>(random() % 7) - 2;
        }
        for (int token = -4; token < 8; ++token) {
            const double counted = 100 * static_cast<double>(std::count(tokens.begin(), tokens.end(), token)) / 101;
            CHECK(percent_of(tokens, token) == counted);
            const nlp_sequence_ratio by_values{.token_values = {1e9, static_cast<double>(token), 1},
                                               .token_thresholds_percent = {0, 0, 100}};
            CHECK(judged(tokens, by_values) == (counted > 0 ? numbers{counted, 0} : numbers{}));
        }
    }
}

TEST_CASE("nlp_sequence_ratio: empty tensors, strings and complex numbers are passed over") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("empty", {}),
                           tensor_of<std::complex<float>>("complex", {{0, 0}, {0, 0}}),
                           {.name = "text", .type = dtype::string, .shape = {0}, .content = {}}}})
        .end();
    const memory_trial run{store};
    CHECK(nlp_sequence_ratio{.tensor_regex = "."}(run, 0).empty());
    CHECK(nlp_sequence_ratio{.tensor_regex = ".", .token_values = {0, 1}}(run, 0).empty());
}

TEST_CASE("nlp_sequence_ratio: saved reductions can prove that a token is not there; else the tensor is noted") {
    memory_storage store;
    run_builder{store}
        .collections()
        .step({.step = 0,
               .tensors = {tensor_of<float>("smdebug/reductions/min/" + input, {3}),
                           tensor_of<float>("smdebug/reductions/max/" + input, {5})}})
        .end();
    const memory_trial run{store};
    CHECK(nlp_sequence_ratio{}(run, 0).empty());
    CHECK(nlp_sequence_ratio{.token_values = {2, 6}}(run, 0).empty());
    const auto found = nlp_sequence_ratio{.token_values = {2, 4}}(run, 0);
    REQUIRE(found.size() == 1);
    CHECK_FALSE(found[0].met);
    CHECK_FALSE(found[0].message.empty());
    const memory_trial only_reduces = reduced_run({{input, {{0, {0, 1}}}}, {"b", {{0, {1, 2}}}}});
    const auto notes = nlp_sequence_ratio{}(only_reduces, 0);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].tensor == input);
    CHECK_FALSE(notes[0].met);
}

TEST_CASE("nlp_sequence_ratio: looks at the first worker, or at all") {
    memory_storage store;
    run_builder build{store};
    build.collections({"worker_0", "worker_1"});
    build.step({.step = 0, .tensors = {tensor_of<std::int64_t>(input, {1, 2})}, .worker = "worker_0"});
    build.step({.step = 0, .tensors = {tensor_of<std::int64_t>(input, {0, 0})}, .worker = "worker_1"});
    build.end();
    const memory_trial run{store};
    CHECK(invoke_rule(nlp_sequence_ratio{}, run).findings.empty());
    const auto outcome = invoke_rule(nlp_sequence_ratio{.all_workers = true}, run);
    REQUIRE(outcome.findings.size() == 1);
    CHECK(outcome.findings[0].worker == "worker_1");
}

TEST_CASE("nlp_sequence_ratio: refuses settings that make no sense") {
    using self = nlp_sequence_ratio;
    CHECK_NOTHROW(self{}.check());
    CHECK_NOTHROW(self{.token_thresholds_percent = {50, 50}}.check());
    CHECK_NOTHROW(self{.token_values = {0, 1, 2}}.check());
    CHECK_THROWS_WITH_AS((self{.token_values = {0, 1, 2}, .token_thresholds_percent = {50, 50}}.check()),
                         "SMDebugValueError: nlp_sequence_ratio: token_thresholds_percent has 2 numbers for the 3 "
                         "tokens of token_values; it must have "
                         "one, or one for each token",
                         value_error);
    CHECK_THROWS_AS((self{.token_values = {}}.check()), value_error);
    CHECK_THROWS_AS((self{.token_thresholds_percent = {}}.check()), value_error);
    CHECK_THROWS_AS((self{.token_values = {inf}}.check()), value_error);
    for (const double bad : {-1.0, 100.5, not_a_number}) {
        CHECK_THROWS_AS((self{.token_thresholds_percent = {bad}}.check()), value_error);
    }
    CHECK(thrown_code([&] { static_cast<void>(self{.tensor_regex = text_list{}}.check()); }) ==
          error_code::insufficient_information);
    static_assert(described_rule<self> && checked_rule<self>);
}
