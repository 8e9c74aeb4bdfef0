// How a path s3://bucket/prefix becomes a storage in programs that may have been built without S3.
// What needs libcurl, OpenSSL and pugixml comes into a program by <smdebug/s3.hpp>, in any one of its files; the linker
// knows whether it did.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_place.hpp>
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

namespace s3 {

/// The objects below `path`, to be read, with the cache that the options say.
/// Errors: unsupported in a program of which no file includes <smdebug/s3.hpp>; what s3_storage throws for an address
///         or options that cannot be right.
[[nodiscard]] any_storage storage_of(std::string_view path, const storage_options& options);

/// The same, to be written.
[[nodiscard]] any_place place_of(std::string_view path, const s3_options& options);

namespace detail {

// Null where no file of the program includes <smdebug/s3.hpp>, which defines them.
[[nodiscard, gnu::weak]] any_storage open_storage(std::string_view path, const storage_options& options);
[[nodiscard, gnu::weak]] any_place open_place(std::string_view path, const s3_options& options);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/impl/by_path.ipp>
#endif
