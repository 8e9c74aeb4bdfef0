// One file of a cache on disk: an object, what it is, and a checksum over both.
// Used by: storage/disk_cache.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/storage/content_hash.hpp>
#include <smdebug/storage/object_cache.hpp>
#include <smdebug/storage/posix_file.hpp>
#include <smdebug/storage/posix_output.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// The layout, all numbers little-endian, 8 bytes each:
///   mark | size of the identity | size of the object | checksum of these and of what follows | identity | object
/// The identity is place, key and version, each behind its size.
namespace cache_file {

inline constexpr std::uint64_t mark = 0x3130656863616373U;  // "scache01"
inline constexpr std::size_t head_size = 32;
inline constexpr std::string_view extension = ".cached";
inline constexpr std::size_t digits = 32;

/// What a file says that it holds.
[[nodiscard]] inline std::string identity_text(const object_identity& what) {
    std::string text;
    for (const std::string_view part : {what.place, what.key, what.version}) {
        text.append(std::to_string(part.size())).append(":").append(part);
    }
    return text;
}

/// The name of its file: two objects that get the same are told apart by what is in it.
[[nodiscard]] inline std::string name_of(const object_identity& what) {
    const std::string text = identity_text(what);
    std::string name;
    for (const std::uint64_t seed : {0U, 1U}) {
        std::uint64_t hash = content_hash(as_bytes(text), seed);
        for (std::size_t i = 0; i < digits / 2; ++i, hash >>= 4U) {
            name += "0123456789abcdef"[hash & 15U];
        }
    }
    return name.append(extension);
}

/// Whether a name is of that form, or of a file that is being written.
[[nodiscard]] inline bool is_name(std::string_view name) noexcept {
    return name.size() == digits + extension.size() && name.ends_with(extension) &&
           name.find_first_not_of("0123456789abcdef") == digits;
}
[[nodiscard]] inline bool is_temporary(std::string_view name) noexcept {
    return name.size() > digits && name.find_first_not_of("0123456789abcdef") == digits &&
           name.substr(digits).starts_with(posix::temporary_mark);
}

namespace detail {

[[nodiscard]] inline std::array<std::byte, head_size> head_of(std::size_t identity, std::size_t object,
                                                              std::uint64_t checksum) noexcept {
    std::array<std::byte, head_size> head{};
    const std::array<std::uint64_t, 4> numbers{mark, identity, object, checksum};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        store_le(head.data() + 8 * i, numbers[i]);
    }
    return head;
}

[[nodiscard]] inline std::uint64_t checksum_of(byte_view identity, byte_view object) noexcept {
    return content_hash(object, content_hash(identity, identity.size() ^ (std::uint64_t{object.size()} << 20U)));
}

}  // namespace detail

/// Writes the file, so that it is there whole or not at all, for its owner alone: who may read the cache need not be
/// who may read the bucket.  Returns its size in bytes. Errors: as posix::whole_file_output.
inline std::uint64_t write(const std::string& path, const object_identity& what, byte_view object) {
    const std::string identity = identity_text(what);
    const auto head = detail::head_of(identity.size(), object.size(), detail::checksum_of(as_bytes(identity), object));
    const std::array<byte_view, 3> pieces{byte_view{head}, as_bytes(identity), object};
    posix::whole_file_output out{path, posix::readable_by::owner};
    out.append(pieces);
    out.commit(durability::cached);
    return head.size() + identity.size() + object.size();
}

/// The object that a file holds, if it is this one, and whole; else the file, should there be one, is removed, as is
/// one that is larger than any that would have been written.
/// Errors: as posix::file, but for files that are not there.
[[nodiscard]] inline std::optional<byte_buffer> read(const std::string& path, const object_identity& what,
                                                     std::uint64_t most_bytes) {
    const std::size_t slash = path.rfind('/');
    const std::string folder_name = path.substr(0, slash);
    const auto folder = posix::directory_handle::open(folder_name);
    const auto file = folder ? posix::file::open_if_there(*folder, path.substr(slash + 1), folder_name) : std::nullopt;
    if (!file) {
        return std::nullopt;
    }
    const std::string identity = identity_text(what);
    const std::size_t before = head_size + identity.size();
    if (file->size() >= before && file->size() <= most_bytes) {
        const auto size = static_cast<std::size_t>(file->size());
        const std::shared_ptr<std::byte[]> block = std::make_shared_for_overwrite<std::byte[]>(size);
        const byte_view all{block.get(), file->read_at(0, {block.get(), size})};
        if (all.size() == size) {
            const byte_view object = all.subspan(before);
            const auto head =
                detail::head_of(identity.size(), object.size(), detail::checksum_of(as_bytes(identity), object));
            if (std::equal(head.begin(), head.end(), all.begin()) &&
                as_text(all.subspan(head_size, identity.size())) == identity) {
                return byte_buffer{block, object};
            }
        }
    }
    static_cast<void>(posix::remove_file(path));
    return std::nullopt;
}

}  // namespace cache_file
}  // namespace v1
}  // namespace smdebug
