// What came of a rule over a run: from the evaluation to reports, rows and databases.
// Source: the Python package's Rule.report (RuleTriggered, Violations, Datapoints, RuleParameters, Details).
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/rules/rule_status.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/rules/setting_text.hpp>

#include <cstddef>
#include <exception>
#include <map>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// What came of a rule over a run.
struct rule_result {
    std::string name = {};  ///< of the rule, in reports
    std::string run = {};   ///< name of the run that it evaluated
    rule_outcome outcome = {};
    rule_status status = rule_status::in_progress;
    /// Sentences: what was found first, why it ended early, what was not looked at.
    std::string details = {};
    /// One line for a table: the first finding and what is missing, or else the failure or the details.
    std::string summary = {};
    std::map<std::string, std::string> parameters = {};  ///< as text_of writes them
    std::string failure = {};                            ///< what it threw, in words; else empty
    std::exception_ptr cause = {};                       ///< the exception itself
};

/// The settings of a rule as texts, by name; none for a rule that does not describe them.
template <class R>
[[nodiscard]] std::map<std::string, std::string> parameters_of(const R& rule) {
    std::map<std::string, std::string> found;
    if constexpr (described_rule<R>) {
        for_each_setting<R>([&](const auto& each) { found.emplace(each.name, text_of(rule.*each.member)); });
    } else {
        static_cast<void>(rule);
    }
    return found;
}

/// A rule's status after invoke_rule.  One finding decides; without any, why the walk ended; and where it came to its
/// end, whether all that the rule was to look at could be read.
[[nodiscard]] rule_status status_of(const rule_outcome& outcome) noexcept;

/// "3 of 60 tensors could not be read, first: " and why, "1 part of the run could not be looked at, first: " and which; empty
/// where all could.
[[nodiscard]] std::string unread_text(const rule_outcome& outcome);

/// "1 of 2 workers looked at: all_workers=true looks at all"; empty where the rule has looked at all.
[[nodiscard]] std::string workers_text(const rule_outcome& outcome);

namespace detail {

/// A result with its status and texts.  `own_name`: what the rule calls itself, in `details`.
[[nodiscard]] rule_result result_of(std::string own_name, std::map<std::string, std::string> parameters,
                                    rule_outcome outcome, std::string run, std::exception_ptr cause);

}  // namespace detail

/// The result of a rule, of what invoke_rule gave.  `run`: the run's name.
template <class R>
[[nodiscard]] rule_result result_of(const R& rule, rule_outcome outcome, std::string run = {}) {
    return detail::result_of(std::string{name_of_rule(rule)}, parameters_of(rule), std::move(outcome), std::move(run),
                             {});
}

/// Appends a result as one JSON object, with so many of its findings.  The keys are those of the Python package; "Details" is
/// {"findings": [...], "left_out": n}, as the package's rules have no common form there; "RuleParameters" maps
/// names to texts, as they are configured.  Further keys: "Rule", "RuleEvaluationStatus", "StatusDetails", and
/// "Tensors" and "Unread": how many it was to look at, and how many of these could not be read.
void append_result_json(std::string& out, const rule_result& result, std::size_t most_findings = 1000);

[[nodiscard]] std::string result_json(const rule_result& result, std::size_t most_findings = 1000);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/rule_result.ipp>
#endif
