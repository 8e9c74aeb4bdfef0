// One file of a cache on disk: an object, what it is, and a checksum over both.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/cache/content_hash.hpp>
#include <smdebug/storage/object_cache.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The layout, all numbers little-endian, 8 bytes each:
///   mark | size of the identity | size of the object | checksum of these and of what follows | identity | object
/// The identity is place, key and version, each behind its size.

namespace cache_file {

inline constexpr std::uint64_t mark = 0x3130656863616373U;  // "scache01"
inline constexpr std::size_t head_size = 32;
inline constexpr std::string_view extension = ".cached";
/// Of indexes of archives, which lie in the same folder, and whose names have as many digits: see archive_options.
inline constexpr std::string_view index_extension = ".smdx";
inline constexpr std::size_t digits = 32;

/// What a file says that it holds.
[[nodiscard]] std::string identity_text(const object_identity& what);

/// The name of its file: two objects that get the same are told apart by what is in it.
[[nodiscard]] std::string name_of(const object_identity& what);

/// Whether a name is of that form, or an index's of an archive; whether it is of a file that is being written.
[[nodiscard]] bool is_name(std::string_view name) noexcept;
[[nodiscard]] bool is_temporary(std::string_view name) noexcept;

namespace detail {

[[nodiscard]] std::array<std::byte, head_size> head_of(std::size_t identity, std::size_t object,
                                                       std::uint64_t checksum) noexcept;

[[nodiscard]] inline std::uint64_t checksum_of(byte_view identity, byte_view object) noexcept {
    return content_hash(object, content_hash(identity, identity.size() ^ (std::uint64_t{object.size()} << 20U)));
}

}  // namespace detail

/// Writes the file, so that it is there whole or not at all, for its owner alone: who may read the cache need not be
/// who may read the bucket.  Returns its size in bytes. Errors: as posix::whole_file_output.
std::uint64_t write(const std::string& path, const object_identity& what, byte_view object);

/// The object that a file holds, if it is this one, and whole; else the file, should there be one, is removed, as is
/// one that is larger than any that would have been written.
/// Errors: as posix::file, but for files that are not there.
[[nodiscard]] std::optional<byte_buffer> read(const std::string& path, const object_identity& what,
                                              std::uint64_t most_bytes);

}  // namespace cache_file
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/cache_file.ipp>
#endif
