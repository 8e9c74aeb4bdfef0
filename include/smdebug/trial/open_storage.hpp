// The storage that a run's path stands for, picked at run time.
// Used by: trial/create_trial.hpp, cli, users.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_cache.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// How runs that are far away are read.  A directory of this machine is read as it is.
struct storage_options {
    s3_options s3 = {};
    /// Event files that were read are kept in memory, up to so many bytes: their other tensors then cost no request.
    std::uint64_t memory_bytes = memory_cache::usual_bytes;
    /// A folder on this machine's disk in which event and index files are kept from one program to the next, instead of
    /// in memory; many programs may share it.  Empty: SMDEBUG_CACHE_DIR, else none.
    std::string cache_folder = {};
    std::uint64_t cache_folder_bytes = std::uint64_t{10} << 30U;
};

/// "s3://bucket/prefix": S3, with a cache; else a directory, which need not be there yet.
/// Errors: unsupported for archives, which this version does not read yet, and for S3 in a program of which no file
///         includes <smdebug/s3.hpp>; value_error for an address or a setting that
///         cannot be right.
[[nodiscard]] any_storage open_storage(std::string_view path, storage_options options = {});

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/impl/open_storage.ipp>
#endif
