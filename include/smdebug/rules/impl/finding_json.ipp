// The bodies of <smdebug/rules/finding_json.hpp>.
#pragma once

#include <smdebug/core/json_text.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/rules/finding_json.hpp>

#include <cmath>

namespace smdebug {
inline namespace v1 {

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

SMDEBUG_INLINE std::string finding_json(std::string_view run, const finding& one) {
    std::string out;
    append_finding_json(out, run, one);
    return out;
}

}  // namespace v1
}  // namespace smdebug
