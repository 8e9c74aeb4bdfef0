#include <smdebug/rules/finding.hpp>

#include "support/test.hpp"

using namespace smdebug;

TEST_CASE("invoke_options: by default all steps, for ever, and nothing is thrown or reported") {
    const invoke_options how;
    CHECK(how.start_step == 0);
    CHECK_FALSE(how.end_step.has_value());
    CHECK_FALSE(how.stop_at_first);
    CHECK_FALSE(how.first_offender);
    CHECK_FALSE(how.raise_eval_cond);
    CHECK_FALSE(how.timeout.has_value());
    CHECK_FALSE(how.give_up_after.has_value());
    CHECK_FALSE(how.stop.stop_possible());
    CHECK_FALSE(how.on_finding);
    CHECK_FALSE(how.on_note);
    CHECK_FALSE(how.on_skip);
}

TEST_CASE("rule_outcome: before anything was looked at there is nothing") {
    const rule_outcome outcome;
    CHECK(outcome.met_at.empty());
    CHECK(outcome.findings.empty());
    CHECK(outcome.evaluated == 0);
    CHECK(outcome.skipped == 0);
    CHECK(outcome.tensors == 0);
    CHECK(outcome.unread == 0);
    CHECK(outcome.next_step == 0);
    CHECK(outcome.end == invoke_end::end_of_run);
}
