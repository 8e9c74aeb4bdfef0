#include <smdebug/rules/rule_report.hpp>

#include "support/fake_trial.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/invoke.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

using namespace smdebug;
using namespace smdebug_test;
using rules::vanishing_gradient;

namespace {

/// Two gradients; both vanish at step 1, one at step 2.
fake_trial some_run() {
    fake_trial run{{{"a", {{0, {1}}, {1, {1e-9}}, {2, {1}}}}, {"b", {{0, {1}}, {1, {0}}, {2, {1e-8}}}}}};
    run.groups["gradients"] = {"a", "b"};
    return run;
}

}  // namespace

TEST_CASE("rule_report: counts steps, findings and evaluated steps apart, and lists the settings") {
    const vanishing_gradient rule{.threshold = 1e-6};
    const rule_report report = report_of(rule, invoke_rule(rule, some_run()), {.run = "out"});
    CHECK(report.rule == "vanishing_gradient");
    CHECK(report.triggered == 2);
    CHECK(report.violations == 3);
    CHECK(report.datapoints == 3);
    CHECK(report.skipped == 0);
    CHECK(report.status == rule_status::issues_found);
    CHECK(report.status_details ==
          "RuleEvaluationConditionMet: Evaluation of the rule vanishing_gradient at step 1 resulted in the condition "
          "being met: the mean absolute gradient 1e-09 is below 1e-06");
    CHECK(report.parameters == std::map<std::string, std::string>{{"threshold", "1e-06"}, {"all_workers", "False"}});
    REQUIRE(report.details.size() == 3);
    CHECK(report.details[0].tensor == "a");
    CHECK(report.details[0].step == 1);
    CHECK(report.details[2].step == 2);
}

TEST_CASE("rule_report: keeps the first findings, and says how many it left out") {
    const vanishing_gradient rule;
    const rule_report report = report_of(rule, invoke_rule(rule, some_run()), {.run = "out", .most_details = 1});
    CHECK(report.violations == 3);
    CHECK(report.details.size() == 1);
    smdebug::detail::json::document parser;
    const auto root = parser.parse(as_bytes(report_json(report)));
    REQUIRE(root);
    CHECK((*root)["RuleTriggered"]->integer() == 2);
    CHECK((*root)["Violations"]->integer() == 3);
    CHECK((*root)["Datapoints"]->integer() == 3);
    CHECK((*root)["Skipped"]->integer() == 0);
    CHECK((*root)["Rule"]->string() == "vanishing_gradient");
    CHECK((*root)["RuleEvaluationStatus"]->string() == "IssuesFound");
    CHECK((*(*root)["RuleParameters"])["threshold"]->string() == "1e-07");
    const auto details = (*root)["Details"];
    CHECK((*details)["left_out"]->integer() == 2);
    std::size_t findings = 0;
    (*details)["findings"]->for_each_element([&](smdebug::detail::json::value one) {
        CHECK(one["run"]->string() == "out");
        CHECK(one["rule"]->string() == "vanishing_gradient");
        CHECK(one["step"]->integer() == 1);
        ++findings;
        return true;
    });
    CHECK(findings == 1);
}

TEST_CASE("rule_report: a rule that nobody described has no parameters") {
    const auto rule = [](const fake_trial&, step_number step) { return finding{.met = step == 2}; };
    const rule_report report = report_of(rule, invoke_rule(rule, some_run()));
    CHECK(report.rule == "rule");
    CHECK(report.parameters.empty());
    CHECK(report.triggered == 1);
    CHECK(
        report_json({}) ==
        R"({"Rule":"","RuleEvaluationStatus":"InProgress","StatusDetails":"","RuleTriggered":0,"Violations":0,)"
        R"("Datapoints":0,"Skipped":0,"Tensors":0,"Unread":0,"RuleParameters":{},"Details":{"findings":[],"left_out":0}})");
}

TEST_CASE("rule_report: without findings the end of the walk is the status") {
    struct ending {
        invoke_end end;
        rule_status status;
        std::string_view details;
    };
    for (const ending& held : {ending{invoke_end::end_of_run, rule_status::no_issues_found, ""},
                               ending{invoke_end::end_step, rule_status::no_issues_found, ""},
                               ending{invoke_end::timed_out, rule_status::in_progress,
                                      "No new step came in time; the evaluation goes on at step 7."},
                               ending{invoke_end::stalled, rule_status::error,
                                      "The job has not ended, but has written nothing for long; step 7 did not come."},
                               ending{invoke_end::stopped, rule_status::stopped, "Stopped before step 7."},
                               ending{invoke_end::failed, rule_status::error, "The rule failed at step 7."}}) {
        const rule_report report = report_of(vanishing_gradient{}, {.evaluated = 7, .next_step = 7, .end = held.end});
        CHECK(report.status == held.status);
        CHECK(report.status_details == held.details);
    }
    CHECK(report_of(vanishing_gradient{}, {.next_step = 7, .end = invoke_end::failed}, {.failure = "why"})
              .status_details == "The rule failed at step 7: why");
    CHECK(status_of({.met_at = {3}, .end = invoke_end::stopped}) == rule_status::issues_found);
}

TEST_CASE("rule_report: a rule that looked at nothing has a status of its own, and says why") {
    struct looking {
        rule_outcome outcome;
        rule_status status;
        std::string_view details;
    };
    for (const looking& held :
         {looking{{}, rule_status::not_applicable, "There is no step to look at"},
          looking{{.skipped = 3}, rule_status::not_applicable, "Each of 3 steps lacks something that the rule needs"},
          looking{{.evaluated = 4, .has_selected = false},
                  rule_status::not_applicable,
                  "None of the tensors of 4 steps is what the rule is set to look at"},
          looking{{.evaluated = 4}, rule_status::no_issues_found, ""},
          looking{{.end = invoke_end::stopped}, rule_status::stopped, "Stopped before step 0."}}) {
        const rule_report report = report_of(vanishing_gradient{}, held.outcome);
        CHECK(report.status == held.status);
        CHECK(report.status_details == held.details);
    }
}

TEST_CASE("rule_report: what could not be read is counted, and is no status of health") {
    struct reading {
        rule_outcome outcome;
        rule_status status;
        std::string_view details;
    };
    for (const reading& held :
         {reading{{.evaluated = 1, .tensors = 60}, rule_status::no_issues_found, ""},
          reading{{.tensors = 60, .unread = 3, .first_unread = "why"},
                  rule_status::incomplete,
                  "3 of 60 tensors could not be read, first: why"},
          reading{{.evaluated = 1,
          .tensors = 60,
          .unread = 5,
          .first_unread = "why",
          .problems = 2,
          .first_problem = "a: cut"},
                  rule_status::incomplete,
                  "3 of 58 tensors could not be read, first: why; 2 parts of the run could not be looked at, first: a: "
                  "cut"},
          reading{{.evaluated = 1, .tensors = 60, .unread = 60, .problems = 60, .first_problem = "a: cut"},
                  rule_status::incomplete,
                  "60 parts of the run could not be looked at, first: a: cut"},
          reading{{.tensors = 60, .unread = 60, .problems = 60, .first_problem = "a: cut"},
                  rule_status::error,
                  "60 parts of the run could not be looked at, first: a: cut"},
          reading{{.tensors = 60, .unread = 60, .first_unread = "why"},
                  rule_status::error,
                  "60 of 60 tensors could not be read, first: why"},
          reading{{.tensors = 60, .unread = 3, .first_unread = "why", .next_step = 7, .end = invoke_end::stopped},
                  rule_status::stopped,
                  "Stopped before step 7. 3 of 60 tensors could not be read, first: why"},
          reading{{.met_at = {1}, .tensors = 60, .unread = 3, .first_unread = "why"},
                  rule_status::issues_found,
                  "RuleEvaluationConditionMet: Evaluation of the rule vanishing_gradient at step 1 resulted in the "
                  "condition being met. 3 of 60 tensors could not be read, first: why"}}) {
        const rule_report report = report_of(vanishing_gradient{}, held.outcome);
        CHECK(report.status == held.status);
        CHECK(report.status_details == held.details);
        CHECK(report.tensors == 60);
        CHECK(report.unread == held.outcome.unread);
        CHECK(report_json(report).find("\"Tensors\":60,\"Unread\":" + std::to_string(report.unread) + ",") !=
              std::string::npos);
    }
}
