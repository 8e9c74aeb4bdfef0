// The bodies of <smdebug/batch/scan_runs.hpp> that are no templates.
#pragma once

#include <smdebug/batch/scan_runs.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void add_verdicts(run_result& result, std::vector<rule_result> results) {
    for (rule_result& each : results) {
        if (each.cause) {
            try {
                std::rethrow_exception(each.cause);
            } catch (const std::bad_alloc&) {
                throw;
            } catch (...) {  // the rule's own failure, which its result has in words
                each.cause = nullptr;
            }
        }
        for (finding& found : each.outcome.findings) {
            found.rule = each.name;
        }
        result.verdicts.push_back(std::move(each));
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
