// The storage that a path stands for, picked at run time: trials, hooks and the program smdebug open theirs here.
// What needs libcurl, OpenSSL and pugixml comes into a program by <smdebug/s3.hpp>, what needs zlib and libzstd by
// <smdebug/archive.hpp>, each in any one of its files.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/options.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_cache.hpp>
#include <smdebug/storage/writable.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// How runs that are far away are read.  A directory of this machine is read as it is.
struct storage_options {
    s3_options s3 = {};
    archive_options archive = {};
    /// What the data at a path are: runs of the Python package are always read, others where a file of the program includes
    /// <smdebug/formats.hpp>.
    format_options formats = {};
    /// Event files that were read are kept in memory, up to so many bytes: their other tensors then cost no request.
    std::uint64_t memory_bytes = memory_cache::usual_bytes;
    /// A folder on this machine's disk in which event and index files are kept from one program to the next, instead of
    /// in memory, and indexes of archives, also of those that are near; many programs may share it.  Empty: SMDEBUG_CACHE_DIR, else none.
    std::string cache_folder = {};
    std::uint64_t cache_folder_bytes = std::uint64_t{10} << 30U;
    /// Which keys may be cached.  Empty: all; create_trial() and the program then say is_written_once.
    std::function<bool(std::string_view)> cacheable = {};
};

/// To be read: "s3://bucket/prefix", with a cache; else a folder, as local_storage takes its path.  Neither need be
/// there yet.  An archive of either: "old.tar.gz", "s3://bucket/old.zip", and "old.tar!/job" for one run of several.
/// Errors: unsupported for S3 in a program of which no file includes <smdebug/s3.hpp>, and for archives where none includes
///         <smdebug/archive.hpp>; value_error for an address or a setting that cannot be right, and for an archive of several
///         runs of which none is named; those of local_storage's and archive_storage's constructors; corrupt_data for a
///         damaged archive, unless options say that it is to be skipped.
[[nodiscard]] any_storage open_storage(std::string_view path, storage_options options = {});

namespace detail {

/// Whether a file of the program includes <smdebug/archive.hpp>.
[[nodiscard]] bool opens_archives() noexcept;
/// Whether a file of the program includes <smdebug/formats.hpp>.
[[nodiscard]] bool opens_other_data() noexcept;

/// The same as open_storage(), but for archives.
[[nodiscard]] any_storage open_folder(std::string_view path, storage_options options = {});

/// How archives are read: where they say nothing of a folder for indexes, in that of the cache.
[[nodiscard]] archive_options archives_with_cache(const storage_options& options);

/// A folder or a bucket, to be written.
[[nodiscard]] any_storage open_place(std::string_view path, const s3_options& options = {});

/// A storage to be written that a path is enough for.
template <class S>
concept named_storage =
    writable_storage<S> && (std::constructible_from<S, std::string> || std::same_as<S, any_storage>);

/// Opens such a storage.  Errors: those of open_place() or of its constructor.
using place_opener = any_storage (*)(const std::string& path);

/// What opens storages of this type; null where a path is not enough.
template <storage S>
[[nodiscard]] constexpr place_opener opener_of() noexcept {
    if constexpr (std::same_as<S, any_storage>) {
        return [](const std::string& path) { return open_place(path); };
    } else if constexpr (named_storage<S>) {
        return [](const std::string& path) { return any_storage{S(path)}; };
    } else {
        return nullptr;
    }
}

}  // namespace detail

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/open_storage.ipp>
#endif
