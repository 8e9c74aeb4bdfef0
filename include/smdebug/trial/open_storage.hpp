// The storage that a run's path stands for, picked at run time.
// Used by: trial/create_trial.hpp, cli, users.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/s3/s3_storage.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/cached_storage.hpp>
#include <smdebug/storage/disk_cache.hpp>
#include <smdebug/storage/local_storage.hpp>
#include <smdebug/storage/memory_cache.hpp>
#include <smdebug/storage/uri.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

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
/// Errors: unsupported for archives, which this version does not read yet; value_error for an address or a setting that
///         cannot be right.
[[nodiscard]] inline any_storage open_storage(std::string_view path, storage_options options = {}) {
    switch (kind_of(path)) {
        case uri_kind::directory:
            return any_storage{local_storage{std::string{local_path(path)}}};
        case uri_kind::s3: {
            s3_storage<> bucket{path, options.s3};
            // Read once, at opening; nobody else in this library writes the environment.
            const char* const set = std::getenv("SMDEBUG_CACHE_DIR");  // NOLINT(concurrency-mt-unsafe)
            const std::string folder = !options.cache_folder.empty() ? std::move(options.cache_folder)
                                       : set != nullptr              ? std::string{set}
                                                                     : std::string{};
            if (!folder.empty()) {
                return any_storage{cached_storage{std::move(bucket), disk_cache{folder, options.cache_folder_bytes}}};
            }
            return any_storage{cached_storage{std::move(bucket), memory_cache{options.memory_bytes}}};
        }
        case uri_kind::archive:
            throw unsupported(
                "runs in archives cannot be read yet: unpack " + std::string{path} + " and give its folder",
                {.where = std::string{path}});
    }
    throw unsupported("not a path of a run: " + std::string{path}, {.where = std::string{path}});
}

}  // namespace v1
}  // namespace smdebug
