// Notes of a hook that is closed: what was likely meant to be saved and was not, and what to write instead.
// Configurations that save nothing are legal, so nothing of this is an error; but silence could cost a training.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/hook/collection_set.hpp>
#include <smdebug/hook/hook_counters.hpp>
#include <smdebug/hook/hook_options.hpp>
#include <smdebug/hook/step_writer.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Names the collections whose regexes matched no tensor: a likely reason why tensors are not saved.
[[nodiscard]] std::string idle_regexes(const collection_set& all);

/// options.notes, then those on what was saved; none where nothing is suspicious.  `undue_steps`: how many steps ended at which tensors were
/// offered and nothing was due; `first`: the first tensor of the last step.
[[nodiscard]] std::vector<std::string> closing_notes(const hook_options& options, const collection_set& all,
                                                     const hook_counters& counters, std::uint64_t undue_steps,
                                                     const first_tensor& first);

/// Passes them to options.on_note, or else to standard error.
void tell_closing_notes(const hook_options& options, const collection_set& all, const hook_counters& counters,
                        std::uint64_t undue_steps, const first_tensor& first);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/closing_notes.ipp>
#endif
