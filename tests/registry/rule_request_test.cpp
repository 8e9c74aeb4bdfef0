#include <smdebug/registry/configure.hpp>

#include <smdebug/core/error.hpp>

#include "support/test.hpp"

using namespace smdebug;
using texts = std::vector<std::string>;

namespace {

rule_request settled(const rule_parameters& given, const std::string& label = "") {
    rule_request request{.label = label, .parameters = given};
    settle_request(request);
    return request;
}

std::string refusal(const rule_parameters& given) {
    return smdebug_test::message_of<value_error>([&] { return settled(given); }, "accepted");
}

}  // namespace

TEST_CASE("settle_request: takes out what is none of the rule's own") {
    const rule_request request = settled({{"rule_to_invoke", "VanishingGradient"},
                                          {"threshold", "1e-3"},
                                          {"base_trial", "s3://bucket/run"},
                                          {"start_step", "2"},
                                          {"end_step", "9"},
                                          {"action_json", "{}"}});
    CHECK(request.rule == "VanishingGradient");
    CHECK(request.label == "VanishingGradient");
    CHECK(request.start_step == 2);
    CHECK(request.end_step == 9);
    CHECK(request.action_json == "{}");
    REQUIRE(request.parameters.size() == 1);
    CHECK(request.parameters.at("threshold").text == "1e-3");
    CHECK(settled({{"rule_to_invoke", "a"}}, "mine").label == "mine");
}

TEST_CASE("settle_request: other runs come as a list, then by their numbers, not by their letters") {
    CHECK(settled({{"other_trial_10", "k"}, {"other_trial_2", "c"}, {"other_trial_0", "a"}}).other_trials ==
          texts{"a", "c", "k"});
    CHECK(settled({{"other_trials", "x, y"}, {"other_trial_0", "z"}}).other_trials == texts{"x", "y", "z"});
    CHECK(settled({{"other_trials", texts{"with,comma", "y"}}}).other_trials == texts{"with,comma", "y"});
    const rule_request odd = settled({{"other_trial_", "a"}, {"other_trial_x", "b"}});
    CHECK(odd.other_trials.empty());
    CHECK(odd.parameters.size() == 2);  // parameters that are not the rule's
}

TEST_CASE("settle_request: steps are whole, not negative, and in order; none is none") {
    CHECK_FALSE(settled({{"start_step", "None"}, {"end_step", ""}}).start_step.has_value());
    CHECK(refusal({{"start_step", "x"}}) == "parameter start_step must be a whole number or None, not \"x\"");
    CHECK(refusal({{"end_step", "-1"}}) == "parameter end_step must not be negative, but is -1");
    CHECK(refusal({{"start_step", "5"}, {"end_step", "5"}}) ==
          "end_step must be above start_step, as it is not included");
    CHECK(settled({{"start_step", "5"}, {"end_step", "6"}}).end_step == 6);
}

TEST_CASE("settle_request: one text may come as a list of one, as any parameter; no other list is taken for none") {
    const rule_request request = settled({{"rule_to_invoke", texts{"a"}},
                                          {"start_step", texts{"2"}},
                                          {"end_step", texts{"9"}},
                                          {"other_trial_0", texts{"with,comma"}},
                                          {"action_json", texts{"{}"}}});
    CHECK(request.rule == "a");
    CHECK(request.start_step == 2);
    CHECK(request.end_step == 9);
    CHECK(request.other_trials == texts{"with,comma"});
    CHECK(request.action_json == "{}");
    CHECK(refusal({{"start_step", texts{"1", "2"}}}) ==
          "parameter start_step must be a whole number or None, not a list of 2");
    CHECK(refusal({{"other_trial_0", texts{}}}) == "parameter other_trial_0 must be a string, not a list of 0");
    CHECK(settled({{"other_trial_01", "a"}, {"other_trial_1", "b"}}).other_trials == texts{"a", "b"});
}

TEST_CASE("settle_request: rules in Python are refused in words that say where they run") {
    CHECK(refusal({{"source_s3_uri", "s3://bucket/rule.py"}, {"rule_to_invoke", "MyRule"}})
              .find("is a Python file (source_s3_uri)") != std::string::npos);
}

TEST_CASE("settle_request: a second time changes nothing") {
    rule_request request = settled({{"rule_to_invoke", "a"}, {"other_trial_0", "x"}, {"threshold", "1"}});
    settle_request(request);
    CHECK(request.rule == "a");
    CHECK(request.other_trials == texts{"x"});
    CHECK(request.parameters.size() == 1);
}
