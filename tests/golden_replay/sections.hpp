// The parts of an EXPECTED file, and who answers them.  `folder` is where the run lies.
// Used by: tests/golden_replay.
#pragma once

#include "json_out.hpp"
#include "questions.hpp"

#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/options.hpp>

#include <string>

namespace golden_replay {

/// One of "openings".
[[nodiscard]] fragment answer_opening(const std::string& folder, json::value asked);
/// "tensors" of an opening; `asked` says how many steps to look at, and which names and steps to ask about.
[[nodiscard]] fragment answer_tensors(const smdebug::trial& run, json::value asked);
/// One of "sessions".
[[nodiscard]] fragment answer_session(const std::string& folder, json::value asked);
/// One of "rules".
[[nodiscard]] fragment answer_rule(const std::string& folder, json::value asked);

/// A collection, by its content.
[[nodiscard]] fragment collection_json(const smdebug::collection& group);
/// {step, mode, regex, collection, collection_object} of trial.tensor_names.
[[nodiscard]] fragment tensor_names_json(const smdebug::trial& run, json::value args);

}  // namespace golden_replay
