// How a catalog that is being made takes in new files: whose a mode step is, what mode a step has, which steps are
// complete.
// Source: decisions.md D2, D6, D7.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/trial/catalog/catalog.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace growth {

/// Notes the mode steps of files.  Of those in one load the lowest step comes first; who was there before
/// stays.  `files` come in ascending order of their steps.
void add_mode_steps(catalog& next, std::span<const catalog::file> files);

/// A step with these files, which are those of one step, by worker's name.
[[nodiscard]] catalog::step_entry entry_of(std::span<const catalog::file> files, mode in, step_number mode_step);

/// Adds files to their steps.  Who wrote first decides a step's mode; a later load adds workers to it.
void add_files(catalog& next, std::vector<catalog::file> files);

/// Moves the last complete step on: to the last that every worker wrote, and, since nobody waits for ever for a worker
/// that has died, by half a window while more than a window of steps lie beyond it (decisions.md D7).
/// Cost: a pass over the steps beyond the last complete one.
void complete_steps(catalog& next, std::size_t window);

/// The job has ended, and all that it wrote is here.
void end(catalog& next);

}  // namespace growth
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/catalog_growth.ipp>
#endif
