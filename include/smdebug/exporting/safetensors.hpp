// Exports a run as .safetensors: a file a step.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <string>

namespace smdebug::inline v1 {

/// Writes the values of tensors in the format of Hugging Face's safetensors.
/// Output: a folder with "step_000000500.safetensors" for each step; the worker's name is appended where several
///         workers have selected steps.  An output that ends in ".safetensors" is one file, of one step of one worker.
/// Names:  unchanged.  Values: bit by bit, in the order of the run's file.
/// "__metadata__": run, step, mode, mode_step, worker, and format "pt", as other writers have it.
/// Left out and reported: complex numbers and strings, for which the format has no dtype; a tensor named
/// "__metadata__".
/// Errors, memory: as export_npz().  Cost: reading the run, and writing.
export_result export_safetensors(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/safetensors.ipp>
#endif
