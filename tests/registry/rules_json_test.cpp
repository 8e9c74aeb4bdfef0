#include <smdebug/registry/rule_registry.hpp>

#include "support/given_text.hpp"
#include "support/test.hpp"

#include <smdebug/core/error.hpp>

using namespace smdebug;
using smdebug_test::contains;
using texts = std::vector<std::string>;

namespace {

std::vector<rule_request> parsed(std::string_view text) { return parse_rules_json(text, "rules.json"); }

std::string refusal(std::string_view text) {
    return smdebug_test::message_of<value_error>([&] { return parsed(text); }, "accepted");
}

}  // namespace

TEST_CASE("parse_rules_json: values may be strings, as in SageMaker, or what they are") {
    const auto rules = parsed(R"([
        {"rule": "VanishingGradient", "parameters": {"threshold": "1e-3", "all_workers": "True"}},
        {"rule": "vanishing_gradient", "parameters": {"threshold": 0.25, "all_workers": false, "patience": 3}},
        {"rule": "exploding_tensor"}])");
    REQUIRE(rules.size() == 3);
    CHECK(rules[0].rule == "VanishingGradient");
    CHECK(rules[0].label == "VanishingGradient");
    CHECK(rules[0].parameters.at("threshold").text == "1e-3");
    CHECK(rules[0].parameters.at("all_workers").text == "True");
    CHECK(rules[1].parameters.at("threshold").text == "0.25");
    CHECK(rules[1].parameters.at("all_workers").text == "False");
    CHECK(rules[1].parameters.at("patience").text == "3");
    CHECK(rules[2].parameters.empty());
    CHECK(parsed("[]").empty());
}

TEST_CASE("parse_rules_json: a whole number stays one, however it is written; large ones and fractions are doubles") {
    const auto rules = parsed(R"([{"rule": "a", "parameters": {"x": 2.0, "y": -7, "z": 1e300, "small": 1e-7}}])");
    CHECK(rules[0].parameters.at("x").text == "2");
    CHECK(rules[0].parameters.at("y").text == "-7");
    CHECK(rules[0].parameters.at("z").text == "1e+300");
    CHECK(rules[0].parameters.at("small").text == "1e-07");
}

TEST_CASE("parse_rules_json: a list is a list, whose items may hold commas, or a string with commas") {
    const auto rules = parsed(R"([{"rule": "exploding_tensor",
        "parameters": {"collection_names": "losses, gradients", "tensor_regex": ["relu{1,3}", "tanh"], "n": [1, 2.5]}}])");
    const rule_parameters& given = rules.at(0).parameters;
    CHECK(given.at("collection_names").text == "losses, gradients");
    CHECK_FALSE(given.at("collection_names").items.has_value());
    CHECK(given.at("tensor_regex").items == texts{"relu{1,3}", "tanh"});
    CHECK(given.at("n").items == texts{"1", "2.5"});
}

TEST_CASE("parse_rules_json: the DebugRuleConfigurations of a request, or the whole request") {
    constexpr std::string_view list = R"([
        {"RuleConfigurationName": "LossStopped", "RuleEvaluatorImage": "image", "InstanceType": "ml.t3.medium",
         "VolumeSizeInGB": 0, "LocalPath": "/opt", "S3OutputPath": "s3://bucket/rules",
         "RuleParameters": {"rule_to_invoke": "LossNotDecreasing", "num_steps": "10", "start_step": "5",
                            "end_step": "20", "action_json": "{\"name\": \"sms\"}"}},
        {"RuleConfigurationName": "Similar", "RuleEvaluatorImage": "image",
         "RuleParameters": {"rule_to_invoke": "SimilarAcrossRuns", "base_trial": "s3://bucket/this",
                            "other_trial_1": "s3://bucket/b", "other_trial_0": "s3://bucket/a"}}])";
    for (const std::string& text :
         {std::string{list}, R"({"TrainingJobName": "job", "DebugRuleConfigurations": )" + std::string{list} + "}"}) {
        const auto rules = parsed(text);
        REQUIRE(rules.size() == 2);
        CHECK(rules[0].label == "LossStopped");
        CHECK(rules[0].rule == "LossNotDecreasing");
        CHECK(rules[0].start_step == 5);
        CHECK(rules[0].end_step == 20);
        CHECK(rules[0].action_json == R"({"name": "sms"})");
        CHECK(rules[0].parameters.size() == 1);
        CHECK(rules[1].other_trials == texts{"s3://bucket/a", "s3://bucket/b"});
        CHECK(rules[1].parameters.empty());
    }
    CHECK(parsed(R"({"DebugRuleConfigurations": []})").empty());
}

TEST_CASE("parse_rules_json: an error names the file and the rule's place") {
    CHECK(contains(refusal("{"), "rules.json: neither a JSON list of rules nor a request"));
    CHECK(contains(refusal("{}"), "neither a JSON list"));
    CHECK(contains(refusal(R"({"DebugRuleConfigurations": 1})"), "a list DebugRuleConfigurations. A rule is {"));
    CHECK(contains(refusal("[1]"), "rules.json, rule 1: each item must be"));
    CHECK(contains(refusal(R"([{"parameters": {}}])"), "each item must be"));
    CHECK(contains(refusal(R"([{"rule": "exploding_tensor", "more": 1}])"),
                   "rule 1: the key \"more\" is not known. A rule is {"));
    CHECK(contains(refusal(R"([{"rule": "all_zero", "parameter": {"threshold": 1}}])"),
                   "rule 1: the key \"parameter\" is not known. Did you mean parameters or RuleParameters? A rule is"));
    CHECK(contains(refusal(R"([{"RuleConfigurationName": "x", "RuleParameter": {"rule_to_invoke": "AllZero"}}])"),
                   "rule 1: the key \"RuleParameter\" is not known. Did you mean RuleParameters"));
    CHECK(contains(refusal(R"({"DebugRuleConfiguration": []})"), "Did you mean DebugRuleConfigurations? A rule is {"));
    CHECK(contains(refusal(R"([{"rule": "a"}, {"rule": 5}])"), "rule 2: each item must be"));
    CHECK(contains(refusal(R"([{"rule": "exploding_tensor", "parameters": {"only_nan": null}}])"),
                   "parameter only_nan must be a string"));
    CHECK(contains(refusal(R"([{"rule": "exploding_tensor", "parameters": {"tensor_regex": [null]}}])"),
                   "parameter tensor_regex is a list with an item that is neither"));
    CHECK(contains(refusal(R"([{"RuleConfigurationName": "x", "RuleParameters": {"a": "b"}}])"), "no rule_to_invoke"));
    CHECK(contains(refusal(R"([{"RuleConfigurationName": "x"}])"), "no rule_to_invoke"));
    CHECK(contains(refusal(R"([{"RuleConfigurationName": "x", "RuleParameters": {"rule_to_invoke": "R",
        "source_s3_uri": "s3://bucket/rule.py"}}])"),
                   "rule 1: the rule is a Python file"));
    CHECK(contains(refusal(R"([{"rule": "a"}, {"rule": "b", "rule": "c"}])"), "rule 2: the key \"rule\" stands twice"));
    CHECK(contains(refusal(R"([{"rule": "a", "parameters": {"x": 1, "x": 2}}])"),
                   "rule 1: the parameter x is given twice"));
    CHECK(contains(refusal(R"([{"rule": "a", "parameters": {"x": 1}, "RuleParameters": {"x": 2}}])"),
                   "rule 1: the parameter x is given twice"));
    CHECK(contains(refusal(R"({"DebugRuleConfigurations": [], "DebugRuleConfigurations": []})"),
                   "rules.json: the key \"DebugRuleConfigurations\" stands twice"));
    CHECK(contains(refusal(R"([{"rule": "a", "parameters": {"start_step": "x"}}])"), "parameter start_step must be"));
}
