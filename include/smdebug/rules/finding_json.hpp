// A finding as a JSON object, with the fields that `smdebug check --format json` prints.
// Used by: rules/rule_report.hpp, actions, users.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding.hpp>

#include <cmath>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Appends {"run": ..., "rule": ..., "step": ..., "mode": ..., "mode_step": ..., "tensor": ..., "worker": ...,
/// "value": ..., "threshold": ..., "message": ...} without blanks between them, in ASCII: always valid JSON.
/// A value that is not finite is a string ("NaN", "Infinity", "-Infinity"), as JSON has no number for it; a threshold
/// of NaN stands for none, and is null.  A mode step that is not known is the global step.
/// `run`: the run's path or name.
inline void append_finding_json(std::string& out, std::string_view run, const finding& one) {
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
    out += '{';
    text("run", run);
    text("rule", one.rule);
    whole("step", one.step);
    text("mode", name_of(one.mode));
    whole("mode_step", one.mode_step < 0 ? one.step : one.mode_step);
    text("tensor", one.tensor);
    text("worker", one.worker);
    out += "\"value\":";
    append_json_number(out, one.value);
    out += ",\"threshold\":";
    if (std::isnan(one.threshold)) {
        out += "null";
    } else {
        append_json_number(out, one.threshold);
    }
    out += ',';
    text("message", one.message);
    out.back() = '}';
}

[[nodiscard]] inline std::string finding_json(std::string_view run, const finding& one) {
    std::string out;
    append_finding_json(out, run, one);
    return out;
}

}  // namespace v1
}  // namespace smdebug
