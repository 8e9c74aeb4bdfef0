#include <smdebug/cli/rule_set.hpp>

#include "cli/captured.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;
using exploding = rules::exploding_tensor;
using vanishing = rules::vanishing_gradient;

namespace {

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(cli::parse_rule(text));
    } catch (const cli::usage_error& wrong) {
        return wrong.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("parse_rule: names as the library and as the Python package write them") {
    for (const char* name : {"exploding_tensor", "ExplodingTensor", "explodingtensor"}) {
        CHECK(std::holds_alternative<exploding>(cli::parse_rule(name)));
    }
    for (const char* name : {"vanishing_gradient", "VanishingGradient"}) {
        CHECK(cli::name_of(cli::parse_rule(name)) == "vanishing_gradient");
    }
    CHECK(refusal("exploding") == "there is no rule \"exploding\"; there are: exploding_tensor, vanishing_gradient");
    CHECK(contains(refusal(""), "there is no rule \"\""));
}

TEST_CASE("parse_rule: parameters are strings") {
    const auto rule = std::get<vanishing>(cli::parse_rule("vanishing_gradient,threshold=1e-3,all_workers=True"));
    CHECK(rule.threshold == 1e-3);
    CHECK(rule.all_workers);
    CHECK(std::get<vanishing>(cli::parse_rule("vanishing_gradient")).threshold == 1e-7);
    CHECK_FALSE(std::get<exploding>(cli::parse_rule("exploding_tensor,only_nan=false")).only_nan);
    CHECK(std::get<exploding>(cli::parse_rule("exploding_tensor,only_nan=true")).only_nan);
}

TEST_CASE("parse_rule: a list has semicolons; blanks around items do not count, nor do empty items") {
    const auto rule = std::get<exploding>(
        cli::parse_rule("exploding_tensor,collection_names=losses; gradients ;,tensor_regex=relu{1\\,3}=?"));
    CHECK(rule.collection_names.texts() == texts{"losses", "gradients"});
    CHECK(rule.tensor_regex.texts() == texts{"relu{1,3}=?"});
    CHECK(std::get<exploding>(cli::parse_rule("exploding_tensor,collection_names=")).collection_names.empty());
    CHECK(std::get<exploding>(cli::parse_rule("exploding_tensor,tensor_regex=a\\;b;\\d")).tensor_regex.texts() ==
          texts{"a;b", "\\d"});
}

TEST_CASE("parse_rule: what cannot be is refused in words that help") {
    CHECK(refusal("exploding_tensor,only_nan=yes") ==
          "rule exploding_tensor: parameter only_nan must be True or False, not \"yes\"");
    CHECK(refusal("exploding_tensor,nan=True") ==
          "rule exploding_tensor has no parameter \"nan\"; it has: collection_names, tensor_regex, only_nan, "
          "all_workers");
    for (const char* number : {"", "abc", "1,5", "1e", " 1", "nan", "0x10"}) {
        CHECK(refusal(std::string{"vanishing_gradient,threshold="} + number) != "accepted");
    }
    CHECK(contains(refusal("vanishing_gradient,threshold"), "is not of the form key=value"));
    CHECK(contains(refusal("exploding_tensor,tensor_regex=("), "is not valid at character"));
}

TEST_CASE("built_in_rules: every rule and parameter that is listed can be set, and its default is what is said") {
    for (const cli::rule_info& rule : cli::built_in_rules()) {
        CHECK(cli::name_of(cli::make_rule(rule.name, {})) == rule.name);
        CHECK(cli::name_of(cli::make_rule(rule.python_name, {})) == rule.name);
        for (const cli::parameter_info& held : rule.parameters) {
            const std::string value{held.standard == "none" ? "" : held.standard};
            CHECK_NOTHROW(static_cast<void>(cli::make_rule(rule.name, {{std::string{held.name}, value, {value}}})));
        }
    }
    const auto given =
        std::get<vanishing>(cli::make_rule("vanishing_gradient", {{.key = "threshold", .text = "1e-07"}}));
    CHECK(given.threshold == vanishing{}.threshold);
}
