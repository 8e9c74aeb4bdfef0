// What some processes read of a large run for the rules that another one evaluates: the reductions of all tensors.
#pragma once

#include <program/program_trial.hpp>
#include <program/run_parts.hpp>
#include <program/run_places.hpp>
#include <smdebug/batch/row_spool.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/core/stop_token.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// Parts of a run that help its rules: where it has event files of its own that can be opened, and the numbers of all
/// tensors fit into `memory`, which is what one run may have.
[[nodiscard]] std::vector<step_range> parts_for_rules(const program_trial& run, const any_storage& store,
                                                      const step_range& selected, part_limits limits,
                                                      const std::optional<std::uint64_t>& memory);

/// Reads the event files of some steps, one after another; see passed_rows.hpp.  What is damaged is left out: reading it
/// again tells.      Errors: those of the storage, and of row_spool.
[[nodiscard]] std::shared_ptr<row_spool> noted_steps(const program_trial& run, const any_storage& store,
                                                     const step_range& steps, const std::stop_token& stop);

/// The place of a run, where its trial finds what noted_steps() gave.
[[nodiscard]] run_place with_notes(run_place place, row_spool& rows);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
