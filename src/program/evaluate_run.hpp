// Rules over the steps of one run, with what is to be said about it: what check and scan have in common.
#pragma once

#include <program/finding_actions.hpp>
#include <program/message_sink.hpp>
#include <program/program_trial.hpp>
#include <program/rule_set.hpp>
#include <program/runs.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/registry/rule_request.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

struct check_arguments {
    std::vector<std::string> runs = {};
    std::vector<rule_request> rules = {};
    step_number start = 0;
    std::optional<step_number> end = {};  ///< exclusive
    bool stop_at_first = false;           ///< each rule ends at the first step that meets its condition
    bool first_offender = false;          ///< of such a step only the first finding
    action_options actions = {};
    run_options how = {};
    follow_options follow = {};
};

/// A finding by the number that people know its step by.
[[nodiscard]] finding as_shown(finding found, const program_trial& run);

/// Who is told what while rules are evaluated, and what they may use; all may be empty.
struct evaluation_hooks {
    std::function<void(const std::vector<std::string>& rules)> begin = {};
    std::function<void(const std::string& rule, const finding&)> on_finding = {};
    std::function<void(const rule_result&)> finish = {};
    /// Is evaluated with the rules and has no result: it notes what they read.  Null: nothing does.
    const any_rule<program_trial>* observer = nullptr;
    sharing_options sharing = {};
    std::stop_token stop = {};
};

/// Rules over the steps that there are of one run; notes, failures and progress go to `to`: a console, or what keeps
/// them.  A result for each request, in their order: one that cannot be made does not lose the others.
[[nodiscard]] std::vector<rule_result> evaluate_run(rule_maker& maker, const std::vector<rule_request>& requests,
                                                    const program_trial& run, const std::string& path,
                                                    const check_arguments& args, const evaluation_hooks& hooks,
                                                    message_sink& to);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
