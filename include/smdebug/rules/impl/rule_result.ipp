// The bodies of <smdebug/rules/rule_result.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/core/json_text.hpp>
#include <smdebug/rules/finding.hpp>
#include <smdebug/rules/rule_result.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

SMDEBUG_INLINE rule_status status_of(const rule_outcome& outcome) noexcept {
    if (!outcome.met_at.empty()) {
        return rule_status::issues_found;
    }
    switch (outcome.end) {
        case invoke_end::timed_out:  // the job may continue, and so may a later call
            return rule_status::in_progress;
        case invoke_end::stalled:
        case invoke_end::failed:
            return rule_status::error;
        case invoke_end::stopped:
            return rule_status::stopped;
        case invoke_end::end_step:
        case invoke_end::end_of_run:
        case invoke_end::first_finding:
            break;
    }
    if (outcome.unread > 0) {
        const bool only_problems = outcome.unread == outcome.problems && outcome.evaluated > 0;
        return outcome.unread < outcome.tensors || only_problems ? rule_status::incomplete : rule_status::error;
    }
    return outcome.evaluated == 0 || !outcome.has_selected ? rule_status::not_applicable : rule_status::no_issues_found;
}

SMDEBUG_INLINE std::string unread_text(const rule_outcome& outcome) {
    std::string text;
    if (outcome.unread > outcome.problems) {
        text = std::to_string(outcome.unread - outcome.problems) + " of " +
               std::to_string(outcome.tensors - outcome.problems) +
               " tensors could not be read, first: " + outcome.first_unread;
    }
    if (outcome.problems > 0) {
        text += (text.empty() ? "" : "; ") + std::to_string(outcome.problems) +
                (outcome.problems == 1 ? " part" : " parts") +
                " of the run could not be looked at, first: " + outcome.first_problem;
    }
    return text;
}

SMDEBUG_INLINE const finding* first_bad_value(std::span<const rule_result> results) noexcept {
    for (const rule_result& each : results) {
        for (const finding& found : each.outcome.findings) {
            if (found.rule == "nan_origin") {  // findings are in the order of steps
                return &found;
            }
        }
    }
    return nullptr;
}

SMDEBUG_INLINE std::string first_bad_value_text(const finding& first) {
    return "the first value that was not finite: step " + std::to_string(first.step) + ", " + first.tensor +
           (first.worker.empty() ? "" : " of " + first.worker) + ", " + first.message;
}

SMDEBUG_INLINE std::string workers_text(const rule_outcome& outcome) {
    return outcome.other_workers == 0 ? std::string{}
                                      : "only 1 of " + std::to_string(outcome.other_workers + 1) +
                                            " workers was checked; all_workers=true checks all";
}

namespace detail {

SMDEBUG_INLINE std::string end_details_of(const std::string& rule, const rule_outcome& outcome) {
    if (!outcome.met_at.empty()) {
        return rule_evaluation_condition_met(rule, outcome.met_at.front(),
                                             outcome.findings.empty() ? "" : outcome.findings.front().message)
            .what();
    }
    const std::string from = std::to_string(outcome.next_step);
    switch (outcome.end) {
        case invoke_end::timed_out:
            return "No new step came in time; the evaluation goes on at step " + from + ".";
        case invoke_end::stalled:
            return "The job has not ended, but has written nothing for long; step " + from + " did not come.";
        case invoke_end::stopped:
            return "Stopped before step " + from + ".";
        case invoke_end::failed:
            return "The rule failed at step " + from + ".";
        case invoke_end::end_step:
        case invoke_end::end_of_run:
        case invoke_end::first_finding:
            break;
    }
    if (status_of(outcome) != rule_status::not_applicable) {
        return {};
    }
    if (outcome.evaluated > 0) {
        return "None of the tensors of " + std::to_string(outcome.evaluated) +
               " steps is what the rule is set to look at";
    }
    return outcome.skipped > 0
               ? "Each of " + std::to_string(outcome.skipped) + " steps lacks something that the rule needs" +
                     (outcome.first_skip.empty() ? "" : ": " + outcome.first_skip)
               : "There is no step to look at";
}

SMDEBUG_INLINE std::string status_details_of(const std::string& rule, const rule_outcome& outcome) {
    std::string details = end_details_of(rule, outcome);
    for (const std::string& more : {unread_text(outcome), workers_text(outcome)}) {
        const bool both = !details.empty() && !more.empty();
        details += (both ? details.ends_with('.') ? " " : ". " : "") + more;
    }
    return details;
}

/// The message of what was thrown.
[[nodiscard]] inline std::string to_message(const std::exception_ptr& cause) {
    try {
        std::rethrow_exception(cause);
    } catch (const std::exception& failed) {
        return failed.what();
    } catch (...) {
        return "something that is not a std::exception was thrown";
    }
}

SMDEBUG_INLINE std::string summary_of(const rule_result& result) {
    if (result.outcome.findings.empty()) {
        return result.failure.empty() ? result.details : result.failure;
    }
    const finding& first = result.outcome.findings.front();
    const std::string unread = unread_text(result.outcome);
    return (first.tensor.empty() ? "" : first.tensor + ": ") + first.message + (unread.empty() ? "" : "; ") + unread +
           (result.failure.empty() ? "" : "; failed later: ") + result.failure;
}

SMDEBUG_INLINE rule_result result_of(std::string own_name, std::map<std::string, std::string> parameters,
                                     rule_outcome outcome, std::string run, std::exception_ptr cause) {
    rule_result made{.name = std::move(own_name),
                     .run = std::move(run),
                     .outcome = std::move(outcome),
                     .parameters = std::move(parameters),
                     .cause = std::move(cause)};
    if (made.cause) {
        made.failure = to_message(made.cause);
        made.status = rule_status::error;
        made.details = made.failure;
    } else {
        made.status = status_of(made.outcome);
        made.details = status_details_of(made.name, made.outcome);
    }
    made.summary = summary_of(made);
    return made;
}

}  // namespace detail

SMDEBUG_INLINE void append_finding_json(std::string& out, std::string_view run, const finding& one) {
    const auto text = [&](std::string_view field, std::string_view value) {
        out.append("\"").append(field).append("\":");
        append_json_ascii(out, value);
        out += ',';
    };
    const auto whole = [&](std::string_view field, step_number value) {
        out.append("\"").append(field).append("\":");
        append_json_integer(out, value);
        out += ',';
    };
    const auto number = [&](std::string_view field, double value, bool is_there) {
        out.append("\"").append(field).append("\":");
        is_there ? append_json_number(out, value) : static_cast<void>(out += "null");
        out += ',';
    };
    out += '{';
    text("run", run);
    text("rule", one.rule);
    whole("step", one.step);
    text("mode", name_of(one.mode));
    whole("mode_step", one.mode_step < 0 ? one.step : one.mode_step);
    text("tensor", one.tensor);
    text("worker", one.worker);
    number("value", one.value, detail::has_value(one));
    number("threshold", one.threshold, !is_nan(one.threshold));
    text("message", one.message);
    out.back() = '}';
}

SMDEBUG_INLINE std::string finding_json(std::string_view run, const finding& one) {
    std::string out;
    append_finding_json(out, run, one);
    return out;
}

SMDEBUG_INLINE void append_result_json(std::string& out, const rule_result& result, std::size_t most_findings) {
    const auto key = [&](std::string_view name) { out.append("\"").append(name).append("\":"); };
    const auto text = [&](std::string_view name, std::string_view value) {
        key(name);
        append_json_ascii(out, value);
        out += ',';
    };
    const auto count = [&](std::string_view name, std::size_t value) {
        key(name);
        append_json_integer(out, value);
        out += ',';
    };
    out += '{';
    const rule_outcome& outcome = result.outcome;
    text("Rule", result.name);
    text("RuleEvaluationStatus", name_of(result.status));
    text("StatusDetails", result.details);
    count("RuleTriggered", outcome.met_at.size());
    count("Violations", outcome.findings.size());
    count("Datapoints", outcome.evaluated);
    count("Skipped", outcome.skipped);
    count("Tensors", outcome.tensors);
    count("Unread", outcome.unread);
    key("RuleParameters");
    out += '{';
    for (const auto& [name, value] : result.parameters) {
        out += out.back() == '{' ? "" : ",";
        append_json_ascii(out, name);
        out += ':';
        append_json_ascii(out, value);
    }
    out += "},";
    key("Details");
    out += "{\"findings\":[";
    const std::size_t shown = std::min(outcome.findings.size(), most_findings);
    for (std::size_t i = 0; i < shown; ++i) {
        out += i == 0 ? "" : ",";
        append_finding_json(out, result.run, outcome.findings[i]);
    }
    out += "],\"left_out\":";
    append_json_integer(out, outcome.findings.size() - shown);
    out += "}}";
}

SMDEBUG_INLINE std::string result_json(const rule_result& result, std::size_t most_findings) {
    std::string out;
    append_result_json(out, result, most_findings);
    return out;
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
