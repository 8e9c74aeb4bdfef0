#include <program/rule_set.hpp>

#include "program/captured.hpp"

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using namespace smdebug_test;
using texts = std::vector<std::string>;

namespace {

/// What is said of a rule before there is a run.
std::string refusal(const std::string& text) {
    return what_of<cli::detail::usage_error>([&] { cli::check_request(known(), cli::parse_rule(text)); }, "accepted");
}

}  // namespace

TEST_CASE("parse_rule: a name, and parameters that are texts") {
    const rule_request request = cli::parse_rule("VanishingGradient,threshold=1e-3,all_workers=True");
    CHECK(request.rule == "VanishingGradient");
    CHECK(request.label == "VanishingGradient");
    CHECK(request.parameters.size() == 2);
    CHECK(request.parameters.at("threshold").text == "1e-3");
    CHECK(request.parameters.at("all_workers").text == "True");
    CHECK(cli::parse_rule("exploding_tensor").parameters.empty());
}

TEST_CASE("parse_rule: semicolons separate the items of a list; a backslash escapes them, and commas") {
    const rule_request request =
        cli::parse_rule("exploding_tensor,collection_names=losses; gradients ;,tensor_regex=relu{1\\,3}=?");
    CHECK(request.parameters.at("collection_names").items == texts{"losses", " gradients ", ""});
    CHECK(request.parameters.at("tensor_regex").text == "relu{1,3}=?");
    CHECK(cli::parse_rule("a,x=a\\;b;\\d").parameters.at("x").items == texts{"a;b", "\\d"});
    CHECK(cli::parse_rule("a,x=").parameters.at("x").text.empty());
}

TEST_CASE("parse_rule: common parameters are separated from a rule's own") {
    const rule_request request =
        cli::parse_rule("SimilarAcrossRuns,other_trials=a;b,other_trial_0=c,start_step=2,end_step=5");
    CHECK(request.other_trials == texts{"a", "b", "c"});
    CHECK(request.start_step == 2);
    CHECK(request.end_step == 5);
    CHECK(request.parameters.empty());
}

TEST_CASE("parse_rule, check_request: invalid requests give helpful errors") {
    CHECK(refusal("exploding_tensor,only_nan=yes") ==
          "rule exploding_tensor: parameter only_nan (bool, default False) must be True or False, not \"yes\"");
    CHECK(contains(refusal("exploding_tensor,nan=True"), "Did you mean only_nan? It has: collection_names, "));
    CHECK(contains(refusal("exploding"), "there is no rule \"exploding\". Did you mean exploding_tensor? There are: "));
    CHECK(contains(refusal(""), "there is no rule \"\""));
    for (const char* number : {"", "abc", "1\\,5", "1e", "nan", "0x10"}) {
        CHECK_MESSAGE(refusal(std::string{"vanishing_gradient,threshold="} + number) != "accepted", number);
    }
    CHECK(contains(refusal("vanishing_gradient,threshold"), "\"threshold\" is not of the form key=value"));
    CHECK(contains(refusal("vanishing_gradient,exploding_tensor"), "another rule --rule NAME"));
    CHECK(
        refusal("vanishing_gradient,threshold=1,threshold=2") ==
        "--rule vanishing_gradient,threshold=1,threshold=2: the parameter threshold is given twice; a list is written "
        "threshold=item;item");
    CHECK(contains(refusal("exploding_tensor,tensor_regex=("), "holds a bad regular expression"));
    CHECK(contains(refusal("exploding_tensor,start_step=x"),
                   "--rule exploding_tensor,start_step=x: parameter start_step"));
    CHECK(contains(refusal("exploding_tensor,other_trial_0=a"), "does not compare runs"));
    CHECK(contains(refusal("similar_across_runs"), "similar_across_runs"));
    CHECK(refusal("similar_across_runs,other_trial_0=a") == "accepted");
    rule_request labelled = cli::parse_rule("exploding_tensor,only_nan=yes");
    labelled.label = "Mine";
    const cli::detail::usage_error wrong =
        caught<cli::detail::usage_error>([&] { cli::check_request(known(), labelled); });
    CHECK(std::string{wrong.what()}.starts_with("Mine: rule exploding_tensor: "));
}

TEST_CASE("read_rules_json: from a file; the error for a missing or invalid one names it") {
    const temporary_folder folder;
    folder.write("rules.json", R"([{"rule": "exploding_tensor"}])");
    folder.write("bad.json", "{}");
    CHECK(cli::read_rules_json(folder.path() + "/rules.json").size() == 1);
    const auto refused = [](const std::string& path) {
        return what_of<cli::detail::usage_error>([&] { return cli::read_rules_json(path); }, "accepted");
    };
    CHECK(refused(folder.path() + "/none.json") ==
          "--rules-json: the file " + folder.path() + "/none.json cannot be read");
    CHECK(contains(refused(folder.path()), "cannot be read"));
    CHECK(refused(folder.path() + "/bad.json")
              .starts_with("--rules-json " + folder.path() + "/bad.json: neither a JSON"));
}

TEST_CASE("takes_other_trials, rule_names: as the registry knows them") {
    CHECK(cli::takes_other_trials(known(), cli::parse_rule("SimilarAcrossRuns")));
    CHECK(cli::takes_other_trials(known(), cli::parse_rule("similar_across_runs")));
    CHECK_FALSE(cli::takes_other_trials(known(), cli::parse_rule("exploding_tensor")));
    CHECK_FALSE(cli::takes_other_trials(known(), cli::parse_rule("nope")));
    CHECK(cli::rule_names(known()).starts_with("vanishing_gradient, exploding_tensor, "));
    CHECK(cli::rule_names({}).empty());
}

TEST_CASE("rule_maker: makes rules with their names and steps; runs to compare with are opened, or that fails") {
    cli::detail::rule_maker maker{known(), {}};
    rule_request request = cli::parse_rule("ExplodingTensor,start_step=2,end_step=4");
    const auto plain = maker.make(request);
    CHECK(plain.name() == "exploding_tensor");
    CHECK_FALSE(plain.range().contains(1));
    CHECK(plain.range().contains(3));
    CHECK_FALSE(plain.range().contains(4));
    request.label = "exploding-on-tuesday";
    CHECK(maker.make(request).name() == "exploding-on-tuesday");
    const auto both = maker.make(std::vector{request, cli::parse_rule("dead_relu")});
    REQUIRE(both.size() == 2);
    CHECK(both[1].name() == "dead_relu");
    const std::string other = golden("torch_mlp");
    CHECK(maker.make(cli::parse_rule("similar_across_runs,other_trial_0=" + other + ",other_trial_1=" + other + "/"))
              .name() == "similar_across_runs");
    CHECK_THROWS_AS(static_cast<void>(maker.make(cli::parse_rule("similar_across_runs,other_trial_0=/nowhere"))),
                    error);
}
