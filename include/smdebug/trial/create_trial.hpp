// Opening a run by its path: the storage is picked at run time.
// Used by: users, cli.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/uri.hpp>
#include <smdebug/trial/basic_trial.hpp>
#include <smdebug/trial/options.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// The storage that a path stands for: a directory, today.
/// Errors: unsupported for s3:// and archives, which this version does not read yet.
[[nodiscard]] inline any_storage open_storage(std::string_view path) {
    switch (kind_of(path)) {
        case uri_kind::directory:
            return any_storage{local_storage{std::string{local_path(path)}}};
        case uri_kind::s3:
            throw unsupported("runs in S3 cannot be read yet: " + std::string{path}, {.where = std::string{path}});
        case uri_kind::archive:
            throw unsupported(
                "runs in archives cannot be read yet: unpack " + std::string{path} + " and give its folder",
                {.where = std::string{path}});
    }
    throw unsupported("not a path of a run: " + std::string{path}, {.where = std::string{path}});
}

/// Opens the run at `path`.  Errors: as basic_trial's constructor, and unsupported.
[[nodiscard]] inline trial create_trial(std::string_view path, trial_options options = {}) {
    return trial{open_storage(path), std::move(options)};
}

}  // namespace v1
}  // namespace smdebug
