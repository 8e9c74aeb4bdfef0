// How a path s3://bucket/prefix becomes a storage in programs that may have been built without S3.
// The bodies that need libcurl, OpenSSL and pugixml come into a program by <smdebug/s3.hpp>, in any one of its files;
// the linker knows whether they did. Used by: trial (open_storage), hook (open_place).
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
namespace s3 {

/// What is kept of the objects that were read.
struct cache_options {
    std::uint64_t memory_bytes = memory_cache::usual_bytes;
    std::string folder = {};  ///< on this machine's disk, instead of in memory; empty: none
    std::uint64_t folder_bytes = std::uint64_t{10} << 30U;
};

/// The objects below `path`, to be read, with a cache.
/// Errors: unsupported in a program of which no file includes <smdebug/s3.hpp>; what s3_storage throws for an address
///         or options that cannot be right.
[[nodiscard]] any_storage storage_of(std::string_view path, const s3_options& options, const cache_options& cache = {});

/// The same, to be written.
[[nodiscard]] any_place place_of(std::string_view path, const s3_options& options);

namespace detail {

// Null where no file of the program includes <smdebug/s3.hpp>, which defines them.
[[nodiscard, gnu::weak]] any_storage open_storage(std::string_view path, const s3_options& options,
                                                  const cache_options& cache);
[[nodiscard, gnu::weak]] any_place open_place(std::string_view path, const s3_options& options);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/impl/by_path.ipp>
#endif
