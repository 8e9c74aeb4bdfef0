// The status of a rule's evaluation: SageMaker's values, and two of ours.
// Source: the public API reference of SageMaker, DebugRuleEvaluationStatus.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {

enum class rule_status : std::uint8_t {
    in_progress,      ///< it goes on, and has found nothing so far
    no_issues_found,  ///< it saw every step
    issues_found,     ///< the condition was met, whether it goes on or not
    error,            ///< it could not be evaluated to the end, or nothing that it was to look at could be read
    stopped,          ///< it was ended early
    incomplete,       ///< it found nothing, but some of what it was to look at could not be read
    not_applicable,   ///< it looked at nothing: no step, or no tensor, is what it is set to look at
};

/// As SageMaker writes it: "InProgress", "NoIssuesFound", "IssuesFound", "Error", "Stopped"; "Incomplete" and "NotApplicable" are
/// ours.
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

/// The same with SageMaker's values alone: "Incomplete" and "NotApplicable" are an "Error", as the rule vouches for nothing.
[[nodiscard]] constexpr std::string_view service_name_of(rule_status status) noexcept {
    const bool is_ours = status == rule_status::incomplete || status == rule_status::not_applicable;
    return name_of(is_ours ? rule_status::error : status);
}

/// The status of that name, exactly as name_of writes it.  Nothing for "Stopping", which only the service knows.
[[nodiscard]] constexpr std::optional<rule_status> rule_status_named(std::string_view name) noexcept {
    for (const rule_status status : {rule_status::in_progress, rule_status::no_issues_found, rule_status::issues_found,
                                     rule_status::error, rule_status::stopped, rule_status::incomplete,
                                     rule_status::not_applicable}) {
        if (name == name_of(status)) {
            return status;
        }
    }
    return std::nullopt;
}

}  // namespace v1
}  // namespace smdebug
