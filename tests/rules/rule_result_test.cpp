#include <smdebug/rules/rule_result.hpp>

#include "support/small_run.hpp"
#include "support/test.hpp"

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/json_document.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/built_in/vanishing_gradient.hpp>
#include <smdebug/rules/invoke_rules.hpp>

using namespace smdebug;
using namespace smdebug_test;
using rules::vanishing_gradient;

namespace {

/// Two gradients; both vanish at step 1, one at step 2.
memory_trial some_run() {
    return small_run({{"a", {{0, {1}}, {1, {1e-9}}, {2, {1}}}}, {"b", {{0, {1}}, {1, {0}}, {2, {1e-8}}}}},
                     {{"gradients", {"a", "b"}}});
}

}  // namespace

TEST_CASE("rule_result: counts steps, findings and evaluated steps apart, and lists the settings") {
    const vanishing_gradient rule{.threshold = 1e-6};
    const rule_result result = result_of(rule, invoke_rule(rule, some_run()), "out");
    CHECK(result.name == "vanishing_gradient");
    CHECK(result.outcome.met_at.size() == 2);
    CHECK(result.outcome.findings.size() == 3);
    CHECK(result.outcome.evaluated == 3);
    CHECK(result.outcome.skipped == 0);
    CHECK(result.status == rule_status::issues_found);
    CHECK(result.details ==
          "RuleEvaluationConditionMet: Evaluation of the rule vanishing_gradient at step 1 resulted in the condition "
          "being met: the mean absolute gradient 1e-09 is below 1e-06");
    CHECK(result.parameters ==
          std::map<std::string, std::string>{
              {"threshold", "1e-06"}, {"all_workers", "False"}, {"patience", "1"}, {"exclude_regex", "None"}});
    REQUIRE(result.outcome.findings.size() == 3);
    CHECK(result.summary == "a: the mean absolute gradient 1e-09 is below 1e-06");
    CHECK(result.outcome.findings[0].tensor == "a");
    CHECK(result.outcome.findings[0].step == 1);
    CHECK(result.outcome.findings[2].step == 2);
}

TEST_CASE("rule_result: keeps the first findings, and says how many it left out") {
    const vanishing_gradient rule;
    const rule_result result = result_of(rule, invoke_rule(rule, some_run()), "out");
    CHECK(result.outcome.findings.size() == 3);
    smdebug::detail::json::document parser;
    const auto root = parser.parse(as_bytes(result_json(result, 1)));
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

TEST_CASE("first_bad_value: the first finding of nan_origin, under whatever label, in words") {
    const finding late{
        .met = true, .tensor = "w", .worker = "worker_1", .rule = "nan_origin", .step = 7, .message = "1 NaN"};
    finding other = late;
    other.rule = "exploding_tensor";
    std::vector<rule_result> results(3);
    CHECK(first_bad_value(results) == nullptr);
    results[0].outcome.findings = {other};
    CHECK(first_bad_value(results) == nullptr);
    results[2].name = "mine";
    results[2].outcome.findings = {late, late};
    REQUIRE(first_bad_value(results) == &results[2].outcome.findings[0]);
    CHECK(first_bad_value_text(late) == "the first value that was not finite: step 7, w of worker_1, 1 NaN");
    CHECK(first_bad_value_text({.tensor = "w", .step = 7, .message = "1 NaN"}) ==
          "the first value that was not finite: step 7, w, 1 NaN");
}

TEST_CASE("rule_result: a rule without a description has no parameters") {
    const auto rule = [](const trial&, step_number step) { return finding{.met = step == 2}; };
    const rule_result result = result_of(rule, invoke_rule(rule, some_run()));
    CHECK(result.name == "rule");
    CHECK(result.parameters.empty());
    CHECK(result.outcome.met_at.size() == 1);
    CHECK(
        result_json({}) ==
        R"({"Rule":"","RuleEvaluationStatus":"InProgress","StatusDetails":"","RuleTriggered":0,"Violations":0,)"
        R"("Datapoints":0,"Skipped":0,"Tensors":0,"Unread":0,"RuleParameters":{},"Details":{"findings":[],"left_out":0}})");
}

TEST_CASE("rule_result: without findings the end of the walk is the status") {
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
        const rule_result result = result_of(vanishing_gradient{}, {.evaluated = 7, .next_step = 7, .end = held.end});
        CHECK(result.status == held.status);
        CHECK(result.details == held.details);
    }
    CHECK(status_of({.met_at = {3}, .end = invoke_end::stopped}) == rule_status::issues_found);
}

TEST_CASE("rule_result: a rule that looked at nothing has a status of its own, and says why") {
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
        const rule_result result = result_of(vanishing_gradient{}, held.outcome);
        CHECK(result.status == held.status);
        CHECK(result.details == held.details);
    }
}

TEST_CASE("rule_result: what could not be read is counted, and is no status of health") {
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
        const rule_result result = result_of(vanishing_gradient{}, held.outcome);
        CHECK(result.status == held.status);
        CHECK(result.details == held.details);
        CHECK(result.summary.ends_with(result.outcome.findings.empty() ? held.details : "why"));
        CHECK(result.outcome.tensors == 60);
        CHECK(result.outcome.unread == held.outcome.unread);
        CHECK(result_json(result).find("\"Tensors\":60,\"Unread\":" + std::to_string(result.outcome.unread) + ",") !=
              std::string::npos);
    }
}
