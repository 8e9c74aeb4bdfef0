// The bodies of <smdebug/batch/scan_runs.hpp> that are no templates.
#pragma once

#include <smdebug/batch/scan_runs.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_report.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE rule_verdict verdict_of(const rule_result& result) {
    const rule_outcome& outcome = result.outcome;
    rule_verdict verdict{.rule = result.name,
                         .status = result.report.status,
                         .steps_evaluated = outcome.evaluated,
                         .steps_met = outcome.met_at.size(),
                         .steps_skipped = outcome.skipped,
                         .tensors = outcome.tensors,
                         .unread = outcome.unread,
                         .found = outcome.findings};
    for (finding& each : verdict.found) {
        each.rule = result.name;
    }
    if (result.report.status == rule_status::not_applicable) {
        verdict.status.reset();
    }
    if (verdict.found.empty()) {
        verdict.details = result.failure.empty() ? result.report.status_details : result.failure;
        return verdict;
    }
    const finding& first = verdict.found.front();
    const std::string unread = unread_text(outcome);
    verdict.details = (first.tensor.empty() ? "" : first.tensor + ": ") + first.message + (unread.empty() ? "" : "; ") +
                      unread + (result.failure.empty() ? "" : "; failed later: ") + result.failure;
    return verdict;
}

SMDEBUG_INLINE void add_verdicts(run_result& result, const std::vector<rule_result>& results) {
    for (const rule_result& each : results) {
        if (each.cause) {
            try {
                std::rethrow_exception(each.cause);
            } catch (const std::bad_alloc&) {
                throw;
            } catch (...) {  // the rule's own failure, which its verdict tells
            }
        }
        result.verdicts.push_back(verdict_of(each));
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
