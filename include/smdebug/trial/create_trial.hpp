// Opening a run by its path: the storage is picked at run time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/options.hpp>

#include <string_view>

namespace smdebug {
inline namespace v1 {

namespace detail {

/// The storage of a run, whose files are cached that are written once, unless the options say otherwise.
[[nodiscard]] any_storage open_storage_of_run(std::string_view path, storage_options options);

/// Where there is no run: says that what lies there instead takes <smdebug/formats.hpp>, if that is why.
/// Errors: unsupported; those of the storage.
void refuse_other_data(std::string_view path, const any_storage& store);

}  // namespace detail

/// Opens the run at `path`: a directory, or "s3://bucket/prefix", and in programs of which a file includes <smdebug/archive.hpp>
/// or <smdebug/formats.hpp> an archive, or what TensorBoard, PyTorch or numpy left there.
/// Errors: as basic_trial's constructor, and those of open_storage(); unsupported for a log or checkpoints in a program of which no
///         file includes <smdebug/formats.hpp>.
[[nodiscard]] trial create_trial(std::string_view path, trial_options options = {}, storage_options storage = {});

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/create_trial.ipp>
#endif
