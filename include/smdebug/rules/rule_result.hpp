// The result of a rule over a run, for reports, rows and databases; and its status: SageMaker's values, and two more.
// Source: the Python package's Rule.report (RuleTriggered, Violations, Datapoints, RuleParameters, Details); the public
// API reference of SageMaker, DebugRuleEvaluationStatus.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/setting.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

/// The status of a rule's evaluation: SageMaker's values, and two more of this library.
enum class rule_status : std::uint8_t {
    in_progress,      ///< it continues, and has no finding so far
    no_issues_found,  ///< every step was evaluated
    issues_found,     ///< the condition was met, whether the evaluation continues or not
    error,            ///< it failed before the end, or nothing that it had to judge could be read
    stopped,          ///< it was ended early
    incomplete,       ///< no finding, but a part of what it had to judge could not be read
    not_applicable,   ///< it judged nothing: no step, or no tensor that it is set to judge
};

/// SageMaker's names: "InProgress", "NoIssuesFound", "IssuesFound", "Error", "Stopped"; "Incomplete" and
/// "NotApplicable" are additions of this library.
[[nodiscard]] constexpr std::string_view name_of(rule_status status) noexcept {
    switch (status) {
        case rule_status::in_progress:
            return "InProgress";
        case rule_status::no_issues_found:
            return "NoIssuesFound";
        case rule_status::issues_found:
            return "IssuesFound";
        case rule_status::error:
            return "Error";
        case rule_status::stopped:
            return "Stopped";
        case rule_status::incomplete:
            return "Incomplete";
        case rule_status::not_applicable:
            return "NotApplicable";
    }
    return "?";
}

/// One of SageMaker's own names: "Incomplete" and "NotApplicable" become "Error", as the rule has not checked
/// everything.
[[nodiscard]] constexpr std::string_view service_name_of(rule_status status) noexcept {
    const bool is_ours = status == rule_status::incomplete || status == rule_status::not_applicable;
    return name_of(is_ours ? rule_status::error : status);
}

/// The status of that name, exactly as name_of writes it.  Nothing for "Stopping", which only the service uses.
[[nodiscard]] constexpr std::optional<rule_status> rule_status_named(std::string_view name) noexcept {
    for (const rule_status status :
         {rule_status::in_progress, rule_status::no_issues_found, rule_status::issues_found, rule_status::error,
          rule_status::stopped, rule_status::incomplete, rule_status::not_applicable}) {
        if (name == name_of(status)) {
            return status;
        }
    }
    return std::nullopt;
}

/// The result of a rule over a run.
struct rule_result {
    std::string name = {};  ///< of the rule, in reports
    std::string run = {};   ///< name of the run that it evaluated
    rule_outcome outcome = {};
    rule_status status = rule_status::in_progress;
    /// Sentences: the first finding, why the evaluation ended early, what was not judged.
    std::string details = {};
    /// One line for a table: the first finding and the missing parts, or else the failure or the details.
    std::string summary = {};
    std::map<std::string, std::string> parameters = {};  ///< as text_of writes them
    std::string failure = {};                            ///< the message of what it threw; else empty
    std::exception_ptr cause = {};                       ///< the exception itself
};

/// The settings of a rule as texts, by name; empty for a rule without descriptions.
template <class Rule>
[[nodiscard]] std::map<std::string, std::string> parameters_of(const Rule& rule) {
    std::map<std::string, std::string> found;
    if constexpr (described_rule<Rule>) {
        for_each_setting<Rule>([&](const auto& each) { found.emplace(each.name, text_of(rule.*each.member)); });
    } else {
        static_cast<void>(rule);
    }
    return found;
}

/// A rule's status after invoke_rule.  Any finding decides; without one, the reason why the walk ended; for a complete
/// walk, whether everything that the rule had to judge could be read.
[[nodiscard]] rule_status status_of(const rule_outcome& outcome) noexcept;

/// "3 of 60 tensors could not be read, first: " and the reason, "1 part of the run could not be looked at, first: " and
/// its name; empty if everything could be read.
[[nodiscard]] std::string unread_text(const rule_outcome& outcome);

/// "only 1 of 2 workers was checked; all_workers=true checks all"; empty if the rule judged all workers.
[[nodiscard]] std::string workers_text(const rule_outcome& outcome);

/// Of the results of a run, the first finding of the built-in rule nan_origin; null if it found nothing, or is not
/// among them.
[[nodiscard]] const finding* first_bad_value(std::span<const rule_result> results) noexcept;

/// "the first value that was not finite: step 603, gradient/fc1.weight of worker_0, 0 NaN, 1 +Inf, 0 -Inf of 128
/// values; before: largest magnitude 0.0154 at step 562", of such a finding.
[[nodiscard]] std::string first_bad_value_text(const finding& first);

namespace detail {

/// A result with its status and texts.  `own_name`: the rule's own name, for `details`.
[[nodiscard]] rule_result result_of(std::string own_name, std::map<std::string, std::string> parameters,
                                    rule_outcome outcome, std::string run, std::exception_ptr cause);

}  // namespace detail

/// The result of a rule, from the outcome of invoke_rule.  `run`: the run's name.
template <class Rule>
[[nodiscard]] rule_result result_of(const Rule& rule, rule_outcome outcome, std::string run = {}) {
    return detail::result_of(std::string{name_of_rule(rule)}, parameters_of(rule), std::move(outcome), std::move(run),
                             {});
}

/// Appends {"run": ..., "rule": ..., "step": ..., "mode": ..., "mode_step": ..., "tensor": ..., "worker": ...,
/// "value": ..., "threshold": ..., "message": ...} without blanks between them, in ASCII: always valid JSON.
/// A value that is not finite is a string ("NaN", "Infinity", "-Infinity"), as JSON has no number for it; a missing
/// threshold, which is NaN, is null, and so is the value of a rule that answers with a bool.  An unknown mode step is
/// written as the global step.
/// `run`: the run's path or name.
void append_finding_json(std::string& out, std::string_view run, const finding& one);

[[nodiscard]] std::string finding_json(std::string_view run, const finding& one);

/// Appends a result as one JSON object, with at most `most_findings` of its findings.  The keys are those of the Python
/// package; "Details" is {"findings": [...], "left_out": n}, as the package's rules have no common form there;
/// "RuleParameters" maps names to texts, as they are configured.  Further keys: "Rule", "RuleEvaluationStatus",
/// "StatusDetails", "Tensors" (how many it had to judge) and "Unread" (how many of these could not be read).
void append_result_json(std::string& out, const rule_result& result, std::size_t most_findings = 1000);

[[nodiscard]] std::string result_json(const rule_result& result, std::size_t most_findings = 1000);

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/rule_result.ipp>
#endif
