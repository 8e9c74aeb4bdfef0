#include <smdebug/registry/rule_registry.hpp>

#include "support/sick_run.hpp"
#include "support/test.hpp"

#include <smdebug/trial/basic_trial.hpp>

using namespace smdebug;
using namespace smdebug_test;

namespace {

const rule_registry<trial>& known() {
    static const auto rules = rule_registry<trial>::built_in();
    return rules;
}

rule_request request_for(const std::string& rule, const rule_parameters& parameters = {}) {
    rule_request request{.rule = rule, .parameters = parameters};
    settle_request(request);
    return request;
}

}  // namespace

TEST_CASE("applicable_rules: every built-in rule is one that a scan knows something about") {
    for (const rule_info& info : known().infos()) {
        INFO(info.name);
        const auto held =
            std::find_if(std::begin(smdebug::detail::scanned_rules), std::end(smdebug::detail::scanned_rules),
                         [&](const smdebug::detail::scanned_rule& each) { return each.name == info.name; });
        REQUIRE(held != std::end(smdebug::detail::scanned_rules));
        for (const std::string& parameter : detail::items_in(held->regex_parameters)) {
            INFO(parameter);  // it exists, and has a default
            const std::string standard = smdebug::detail::default_of(info, parameter);
            CHECK_FALSE(standard.empty());
            CHECK(standard != "None");
        }
        if (held->never.empty() && held->collection_setting.empty()) {
            CHECK_NOTHROW(known().check(info.name, {}));
        }
        rule_parameters parameters;
        for (const std::string& each : detail::items_in(held->parameters)) {
            INFO(each);  // a parameter of the rule, with another value than the rule's own
            const std::string name = each.substr(0, each.find('='));
            parameters.emplace(name, each.substr(each.find('=') + 1));
            CHECK(smdebug::detail::default_of(info, name) != parameters.at(name).text);
        }
        if (!held->collection_setting.empty()) {
            parameters.emplace("collection_names", std::string{held->collection_setting});
        }
        if (!parameters.empty()) {
            CHECK_NOTHROW(known().check(info.name, parameters));
        }
    }
    CHECK(std::size(smdebug::detail::scanned_rules) == known().infos().size());
}

TEST_CASE(
    "applicable_rules: collections are supplied to a rule that cannot do without them, not to others nor in place of "
    "yours") {
    const auto supplied = [](const std::string& rule, const rule_parameters& parameters = {}) {
        rule_request request = request_for(rule, parameters);
        return smdebug::detail::supply_collections(request) ? request.parameters.at("collection_names").text : "no";
    };
    CHECK(supplied("all_zero", {{"threshold", "50"}}) == "weights,gradients");
    CHECK(supplied("UnchangedTensor") == "weights");
    CHECK(supplied("all_zero", {{"collection_names", "biases"}}) == "no");
    CHECK(supplied("all_zero", {{"tensor_regex", "w"}}) == "no");
    CHECK(supplied("exploding_tensor") == "no");
    CHECK(supplied("nope") == "no");
}

TEST_CASE("applicable_rules: a scan's parameters give way to the user's, and the service's JSON has none of them") {
    const auto with = [](const std::string& rule, const rule_parameters& parameters, bool json = false) {
        rule_request request = request_for(rule, parameters);
        request.is_from_json = json;
        smdebug::detail::supply_parameters(request);
        std::string all;
        for (const auto& [name, value] : request.parameters) {
            all += (all.empty() ? "" : ",") + name + "=" + value.text;
        }
        return all;
    };
    CHECK(with("VanishingGradient", {}) == "exclude_regex=(?i)bias,patience=3");
    CHECK(with("vanishing_gradient", {{"patience", "1"}}) == "exclude_regex=(?i)bias,patience=1");
    CHECK(with("vanishing_gradient", {{"patience", "2"}}, true) == "patience=2");
    CHECK(with("exploding_tensor", {{"tensor_regex", "trees"}}) == "tensor_regex=trees");
    CHECK(with("loss_not_decreasing", {{"num_steps", "500"}}) == "num_steps=500");
    CHECK(with("loss_not_decreasing", {{"diff_percent", "1"}}) ==
          "diff_percent=1,increase_threshold_percent=50,window=20");
    CHECK(with("nope", {}) == "");
    CHECK(smdebug::detail::scan_parameters(known().info("all_zero")).at("all_workers").text == "true");
}

TEST_CASE("applicable_rules: a rule with the scan's collections is left out where the run has nothing in them") {
    const temporary_folder folder;
    {
        local_storage store{folder.path()};
        run_builder{store}
            .collections({"worker_0"}, {})
            .step({.step = 0, .tensors = {tensor_of<float>("x", {1})}})
            .end();
    }
    const auto why_not = [&](const rule_parameters& parameters) {
        const trial run = create_trial(folder.path());
        for (const auto& each : smdebug::detail::plan_rules(known(), run, {request_for("all_zero", parameters)})) {
            if (each.request.rule == "all_zero") {
                return each.why_not;
            }
        }
        return std::string{"not planned"};
    };
    CHECK(why_not({{"threshold", "50"}}) == "no tensor in collection weights or in collection gradients");
    CHECK(why_not({{"tensor_regex", "x"}}) == "");
}

TEST_CASE("applicable_rules: gives what has something to look at, ready to be called") {
    const temporary_folder folder;
    write_sick_run(folder);
    const trial run = create_trial(folder.path());
    const auto rules = applicable_rules(known(), run);
    const auto has = [&](const std::string& name) {
        return std::any_of(rules.begin(), rules.end(), [&](const auto& each) { return each.name() == name; });
    };
    CHECK(has("exploding_tensor"));
    CHECK(has("vanishing_gradient"));
    CHECK(has("all_zero"));
    CHECK_FALSE(has("dead_relu"));
    CHECK_FALSE(has("similar_across_runs"));
}
