// Options of rules inside the training process, findings with their steps, and counters.
// Apart from watch.hpp, so that callbacks can be declared without the hook and the trial behind it.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/save_config.hpp>
#include <smdebug/index/collection.hpp>
#include <smdebug/rules/finding.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A finding, and where it was found.  Borrows everything, for the callback's call.
struct watched_finding {
    std::string_view rule;  ///< its name; "rule" where it has none
    const finding& what;
    step_number step = 0;  ///< the global one
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
};

/// When rules inside the training process look, and what they see.
struct watch_options {
    /// At which steps they look; what the hook itself writes, and when, does not count.
    smdebug::save_config save_config = {.save_interval = 1};
    /// They see the tensors whose names match one of these.  None: whatever the loop offers; in EVAL and PREDICT
    /// without gradients and optimizer variables, which are left from the training before.
    std::vector<std::string> include_regex = {};
    /// What is kept of a tensor.  None: its values, which are copied.  Without save_raw_tensor, only the reductions
    /// named, without a copy; a rule can have no others then.  Scalars and losses are kept as they are.
    std::optional<smdebug::reduction_config> reduction_config = {};
    /// How many steps a rule can look at, the current one among them.  Up to a quarter more are kept, so that not each
    /// step has to throw one away.
    std::size_t keep_steps = 16;
    /// Called for each finding that is not met and has a message: a tensor that could not be judged.
    std::function<void(const watched_finding&)> on_note = {};
    /// Called with a rule's name for each step at which something that the rule needs was not there.
    std::function<void(std::string_view rule, step_number step, const error& missing)> on_skip = {};
};

/// What a watcher has done so far.
struct watch_counters {
    std::uint64_t steps = 0;          ///< steps that were looked at: due ones in which something was seen
    std::uint64_t evaluated = 0;      ///< calls of rules that came to their end
    std::uint64_t not_evaluated = 0;  ///< calls of rules at steps that lacked something
    std::uint64_t findings = 0;       ///< that were met
    std::uint64_t notes = 0;          ///< findings that were not met and had a message
};

/// Throws value_error, in a sentence that names the option and its value, unless rules can look by these options.
void check(const watch_options& options);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/watch/impl/watch_options.ipp>
#endif
