// Exports a run for TensorBoard: curves of single numbers, histograms of larger tensors.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/exporting/options.hpp>
#include <smdebug/trial/trial.hpp>

#include <string>

namespace smdebug::inline v1 {

/// Writes event files that TensorBoard opens, by `tensorboard --logdir OUTPUT`.
/// Output: a folder with "train", "validation", "predict" or "global", by mode, in each an event file; where several
///         workers have selected steps, these are in a folder for each worker.  Read as a log they are the same workers
///         and modes.  Steps are those of the mode, times those of the run.
/// Values: a tensor of one element is a point of a curve, as float32; a larger one is a histogram of its finite values,
///         see tensorboard_histogram(); with `tensors` every tensor is written in full, as by tf.summary.write.  A
///         histogram of a log is restored as the same histogram, a text as the same text.
/// Names:  characters that a tag cannot have become '_', see wire::tensorboard_tag; of several names with one tag the
///         later ones get "_2", "_3" and so on, after those that are tags as they are.
/// Left out and reported: tensors with neither curve nor histogram (strings, complex numbers, booleans, tensors without
/// elements or finite ones, or with values beyond float32); with `tensors`, those above 2 GiB.
/// Errors, memory: as export_npz().  Cost: reading the run, and a histogram of each tensor.
export_result export_tensorboard(const trial& run, const std::string& output, const export_options& options = {});

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/impl/tensorboard.ipp>
#endif
