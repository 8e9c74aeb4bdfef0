// The storage that a path stands for, picked at run time: trials, hooks and the program smdebug open theirs here.
// What needs libcurl, OpenSSL and pugixml comes into a program by <smdebug/s3.hpp>, in any one of its files; the linker
// knows whether it did.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/s3/options.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/memory_cache.hpp>
#include <smdebug/storage/writable.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
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
    /// Which keys may be cached.  Empty: all; create_trial() and the program then say is_written_once.
    std::function<bool(std::string_view)> cacheable = {};
};

/// To be read: "s3://bucket/prefix", with a cache; else a folder, as local_storage takes its path.  Neither need be
/// there yet.
/// Errors: unsupported for S3 in a program of which no file includes <smdebug/s3.hpp>; value_error for an address or a
///         setting that cannot be right; those of local_storage's constructor.
[[nodiscard]] any_storage open_storage(std::string_view path, storage_options options = {});

namespace detail {

/// The same, to be written.
[[nodiscard]] any_storage open_place(std::string_view path, const s3_options& options = {});

/// A storage to be written that a path is enough for.
template <class S>
concept named_storage =
    writable_storage<S> && (std::constructible_from<S, std::string> || std::same_as<S, any_storage>);

/// Opens it.  Errors: those of open_place() or of its constructor.
template <named_storage S>
[[nodiscard]] S opened(const std::string& path) {
    if constexpr (std::same_as<S, any_storage>) {
        return open_place(path);
    } else {
        return S(path);
    }
}

}  // namespace detail

namespace s3 {
namespace detail {

// Null where no file of the program includes <smdebug/s3.hpp>, which defines them.
[[nodiscard, gnu::weak]] any_storage open_storage(std::string_view path, const storage_options& options);
[[nodiscard, gnu::weak]] any_storage open_place(std::string_view path, const s3_options& options);

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/impl/open_storage.ipp>
#endif
