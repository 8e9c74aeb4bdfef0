#include <smdebug/cli/scan_plan.hpp>

#include "cli/captured.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <string>

using namespace smdebug;
using namespace smdebug_test;

namespace {

const cli::program_rules& known() {
    static const cli::program_rules rules = cli::program_rules::built_in();
    return rules;
}

}  // namespace

TEST_CASE("scan_plan: every built-in rule is one that a scan knows something about") {
    for (const rule_info& info : known().infos()) {
        INFO(info.name);
        const auto held = std::find_if(std::begin(cli::detail::scanned_rules), std::end(cli::detail::scanned_rules),
                                       [&](const cli::detail::scanned_rule& each) { return each.name == info.name; });
        REQUIRE(held != std::end(cli::detail::scanned_rules));
        for (const std::string& parameter : detail::items_in(held->regex_parameters)) {
            INFO(parameter);  // it exists, and looks for something by default
            const std::string standard = cli::detail::default_of(info, parameter);
            CHECK_FALSE(standard.empty());
            CHECK(standard != "None");
        }
        if (held->never.empty() && held->collection_setting.empty()) {
            CHECK_NOTHROW(known().check(info.name, {}));
        }
    }
    CHECK(std::size(cli::detail::scanned_rules) == known().infos().size());
}

TEST_CASE(
    "scan_plan: collections are supplied to a rule that cannot do without them, not to others nor in place of yours") {
    const auto supplied = [](const std::string& text) {
        rule_request request = cli::parse_rule(text);
        return cli::detail::supply_collections(request) ? request.parameters.at("collection_names").text : "no";
    };
    CHECK(supplied("all_zero,threshold=50") == "weights,gradients");
    CHECK(supplied("UnchangedTensor") == "weights");
    CHECK(supplied("all_zero,collection_names=biases") == "no");
    CHECK(supplied("all_zero,tensor_regex=w") == "no");
    CHECK(supplied("exploding_tensor") == "no");
    CHECK(supplied("nope") == "no");
}

TEST_CASE("scan_plan: a rule with the scan's collections is left out where the run has nothing in them") {
    const temporary_folder folder;
    {
        local_storage store{folder.path()};
        run_builder{store}
            .collections({"worker_0"}, {})
            .step({.step = 0, .tensors = {tensor_of<float>("x", {1})}})
            .end();
    }
    const auto why_not = [&](const std::string& text) {
        const cli::detail::program_trial run = cli::detail::open_run(folder.path(), {});
        for (const auto& each : cli::detail::plan_scan({.check = {.rules = {cli::parse_rule(text)}}}, known(), run)) {
            if (each.request.rule == "all_zero") {
                return each.why_not;
            }
        }
        return std::string{"not planned"};
    };
    CHECK(why_not("all_zero,threshold=50") == "no tensor in collection weights or in collection gradients");
    CHECK(why_not("all_zero,tensor_regex=x") == "");
}
