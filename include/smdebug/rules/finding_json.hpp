// A finding as a JSON object, with the fields that `smdebug check --format json` prints.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/rules/finding.hpp>

#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// Appends {"run": ..., "rule": ..., "step": ..., "mode": ..., "mode_step": ..., "tensor": ..., "worker": ...,
/// "value": ..., "threshold": ..., "message": ...} without blanks between them, in ASCII: always valid JSON.
/// A value that is not finite is a string ("NaN", "Infinity", "-Infinity"), as JSON has no number for it; a threshold
/// of NaN stands for none, and is null.  A mode step that is not known is the global step.
/// `run`: the run's path or name.
void append_finding_json(std::string& out, std::string_view run, const finding& one);

[[nodiscard]] std::string finding_json(std::string_view run, const finding& one);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/rules/impl/finding_json.ipp>
#endif
