// The report of a rule's evaluation: counts, parameters, the findings, and the status.
// Source: the Python package's Rule.report (RuleTriggered, Violations, Datapoints, RuleParameters, Details).
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/rules/concepts.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/outcome.hpp>
#include <smdebug/rules/rule_status.hpp>
#include <smdebug/rules/setting.hpp>
#include <smdebug/rules/setting_text.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

struct rule_report {
    std::string rule = {};                               ///< its name
    std::string run = {};                                ///< the run that it evaluated
    std::size_t triggered = 0;                           ///< steps at which it fired
    std::size_t violations = 0;                          ///< findings that were met
    std::size_t datapoints = 0;                          ///< steps at which it was evaluated
    std::size_t skipped = 0;                             ///< steps that lacked something it needs
    std::size_t tensors = 0;                             ///< what it was to look at, as rule_outcome counts it
    std::size_t unread = 0;                              ///< of these: could not be read
    std::map<std::string, std::string> parameters = {};  ///< as text_of writes them
    std::vector<finding> details = {};                   ///< the first findings; `violations` counts all
    rule_status status = rule_status::in_progress;
    std::string status_details = {};  ///< sentences: what was found first, why it ended early, what was not looked at
};

struct report_options {
    std::string run = {};
    std::size_t most_details = 1000;
    std::string failure = {};  ///< what the rule threw, for invoke_end::failed
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

[[nodiscard]] rule_report report_of(std::string rule, std::map<std::string, std::string> parameters,
                                    const rule_outcome& outcome, const report_options& how);

}  // namespace detail

/// The report of a rule, of what invoke_rule or invoke_rules gave.
template <class R>
[[nodiscard]] rule_report report_of(const R& rule, const rule_outcome& outcome, const report_options& how = {}) {
    return detail::report_of(name_of_rule(rule), parameters_of(rule), outcome, how);
}

/// Appends a report as one JSON object.  The keys are those of the Python package; "Details" is
/// {"findings": [...], "left_out": n}, as the package's rules have no common form there; "RuleParameters" maps
/// names to texts, as they are configured.  Further keys: "Rule", "RuleEvaluationStatus", "StatusDetails", and
/// "Tensors" and "Unread": how many it was to look at, and how many of these could not be read.
void append_report_json(std::string& out, const rule_report& report);

[[nodiscard]] std::string report_json(const rule_report& report);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/rule_report.ipp>
#endif
