#include <smdebug/cli/rules_json.hpp>

#include "cli/captured.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(cli::parse_rules_json(text, "rules.json"));
    } catch (const cli::usage_error& wrong) {
        return wrong.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("parse_rules_json: values may be strings, as in SageMaker, or what they are") {
    const auto rules = cli::parse_rules_json(R"([
        {"rule": "VanishingGradient", "parameters": {"threshold": "1e-3", "all_workers": "True"}},
        {"rule": "vanishing_gradient", "parameters": {"threshold": 0.25, "all_workers": false}},
        {"rule": "exploding_tensor"}])",
                                             "rules.json");
    REQUIRE(rules.size() == 3);
    CHECK(std::get<rules::vanishing_gradient>(rules[0]).threshold == 1e-3);
    CHECK(std::get<rules::vanishing_gradient>(rules[0]).all_workers);
    CHECK(std::get<rules::vanishing_gradient>(rules[1]).threshold == 0.25);
    CHECK(std::holds_alternative<rules::exploding_tensor>(rules[2]));
    CHECK(cli::parse_rules_json("[]", "rules.json").empty());
}

TEST_CASE("parse_rules_json: a list is a list, whose items may hold commas, or a string with commas") {
    const auto rules = cli::parse_rules_json(R"([{"rule": "exploding_tensor",
        "parameters": {"collection_names": "losses, gradients", "tensor_regex": ["relu{1,3}", "tanh"]}}])",
                                             "rules.json");
    const auto& rule = std::get<rules::exploding_tensor>(rules.at(0));
    CHECK(rule.collection_names.texts() == texts{"losses", "gradients"});
    CHECK(rule.tensor_regex.texts() == texts{"relu{1,3}", "tanh"});
}

TEST_CASE("parse_rules_json: what is wrong is told with the file and the rule's place") {
    CHECK(contains(refusal("{"), "--rules-json rules.json: not a JSON list"));
    CHECK(contains(refusal("{}"), "not a JSON list"));
    CHECK(contains(refusal("[1]"), "rules.json, rule 1: each item must be"));
    CHECK(contains(refusal(R"([{"parameters": {}}])"), "each item must be"));
    CHECK(contains(refusal(R"([{"rule": "exploding_tensor", "more": 1}])"), "each item must be"));
    CHECK(
        contains(refusal(R"([{"rule": "exploding_tensor"}, {"rule": "nope"}])"), "rule 2: there is no rule \"nope\""));
    CHECK(contains(refusal(R"([{"rule": "exploding_tensor", "parameters": {"only_nan": null}}])"), "must be a string"));
    CHECK(contains(refusal(R"([{"rule": "exploding_tensor", "parameters": {"tensor_regex": [1]}}])"), "no string"));
    CHECK(contains(refusal(R"([{"rule": "vanishing_gradient", "parameters": {"threshold": true}}])"),
                   "must be a number"));
    CHECK(contains(refusal(R"([{"rule": "vanishing_gradient", "parameters": {"threshold": ["1"]}}])"),
                   "must be a number"));
}

TEST_CASE("read_rules_json: from a file; one that is not there is named") {
    const temporary_folder folder;
    folder.write("rules.json", R"([{"rule": "exploding_tensor"}])");
    CHECK(cli::read_rules_json(folder.path() + "/rules.json").size() == 1);
    CHECK_THROWS_AS(static_cast<void>(cli::read_rules_json(folder.path() + "/none.json")), cli::usage_error);
    CHECK_THROWS_AS(static_cast<void>(cli::read_rules_json(folder.path())), cli::usage_error);
}
