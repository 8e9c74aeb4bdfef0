// The storage that a run's path stands for, picked at run time.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/by_path.hpp>
#include <smdebug/storage/any_storage.hpp>

#include <string_view>

namespace smdebug {
inline namespace v1 {

/// "s3://bucket/prefix": S3, with a cache; else a directory, which need not be there yet.
/// Errors: unsupported for archives, which this version does not read yet, and for S3 in a program of which no file
///         includes <smdebug/s3.hpp>; value_error for an address or a setting that cannot be right.
[[nodiscard]] any_storage open_storage(std::string_view path, storage_options options = {});

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/open_storage.ipp>
#endif
