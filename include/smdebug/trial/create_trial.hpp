// Opening a run by its path: the storage is picked at run time.
#pragma once

#include <smdebug/storage/open_storage.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/options.hpp>

#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Opens the run at `path`: a directory, or "s3://bucket/prefix".
/// Errors: as basic_trial's constructor, and those of open_storage().
[[nodiscard]] inline trial create_trial(std::string_view path, trial_options options = {},
                                        storage_options storage = {}) {
    return trial{open_storage(path, std::move(storage)), std::move(options)};
}

}  // namespace v1
}  // namespace smdebug
