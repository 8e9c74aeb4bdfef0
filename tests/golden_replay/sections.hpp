// The parts of an EXPECTED file, and the code that answers each.  `place` is the path with which the library opens the
// run.
#pragma once

#include "arguments.hpp"
#include "json_out.hpp"
#include "questions.hpp"
#include "run_place.hpp"

#include <smdebug/index/collections_file.hpp>
#include <smdebug/trial/basic_trial.hpp>

#include <string>

namespace golden_replay {

/// One of "openings".
[[nodiscard]] fragment answer_opening(const std::string& place, json::value asked);
/// "tensors" of an opening; `asked` says which of them are checked in detail, and at how many steps.
[[nodiscard]] fragment answer_tensors(const smdebug::trial& run, json::value asked);
/// One of "sessions"; `place` is initially empty if the run is copied.
[[nodiscard]] fragment answer_session(const run_place& place, json::value asked);
/// One of "rules".
[[nodiscard]] fragment answer_rule(const std::string& place, json::value asked);

/// One call, by the name that it has in the README, made on `run`.  Throws what the library throws.
[[nodiscard]] fragment call(const smdebug::trial& run, const std::string& name, const arguments& args);
/// A collection, by its content.
[[nodiscard]] fragment collection_json(const smdebug::collection& group);

}  // namespace golden_replay
