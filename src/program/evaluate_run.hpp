// Evaluates rules over the steps of one run, with messages: shared by check and scan.
#pragma once

#include <program/finding_actions.hpp>
#include <program/message_sink.hpp>
#include <program/rule_set.hpp>
#include <program/runs.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/registry/configure.hpp>
#include <smdebug/rules/any_rule.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/invoke_rules.hpp>
#include <smdebug/rules/rule_result.hpp>
#include <smdebug/trial/trial.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

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

/// A finding with its step numbered as it is shown.
[[nodiscard]] finding as_shown(finding found, const trial& run);
/// The same for all findings of these results.
void show_steps(std::vector<rule_result>& results, const trial& run);

/// Callbacks during the evaluation of rules, and what rules may use; all may be empty.
struct evaluation_hooks {
    std::function<void(const std::vector<std::string>& rules)> begin = {};
    std::function<void(const std::string& rule, const finding&)> on_finding = {};
    std::function<void(const rule_result&)> finish = {};
    /// Evaluated with the rules, without a result: it records what they read.  May be null.
    const any_rule<trial>* observer = nullptr;
    sharing_options sharing = {};
    /// A scan of the run in whose pass the rules are evaluated; may be null.
    std::shared_ptr<smdebug::detail::scan_onlooker> onlooker = {};
    std::stop_token stop = {};
};

/// Evaluates rules over the existing steps of one run; notes, failures and progress go to `to`, a console or a buffer.
/// Returns a result for each request, in order: one that cannot be made does not affect the others.
[[nodiscard]] std::vector<rule_result> evaluate_run(rule_maker& maker, const std::vector<rule_request>& requests,
                                                    const trial& run, const std::string& path,
                                                    const check_arguments& args, const evaluation_hooks& hooks,
                                                    message_sink& to);

}  // namespace smdebug::inline v1::cli::detail
