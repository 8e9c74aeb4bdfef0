// The folder of a cache of whole objects, which many processes may share.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/cache/memory_cache.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace smdebug::inline v1::detail {

/// A file of the disk cache: an object, its identity, and a checksum of both. The layout, all numbers little-endian, 8
/// bytes each:
///   mark | size of the identity | size of the object | checksum of these and of what follows | identity | object
/// The identity is place, key and version, each behind its size.

namespace cache_file {

inline constexpr std::uint64_t mark = 0x3130656863616373U;  // "scache01"
inline constexpr std::size_t head_size = 32;
inline constexpr std::string_view extension = ".cached";

/// The identity stored in a file.
[[nodiscard]] std::string identity_text(const object_identity& what);

/// The name of the object's file; if two objects share one, the identity inside distinguishes them.
[[nodiscard]] std::string name_of(const object_identity& what);

/// Whether a name has that form, or that of an archive's index, which is in the same folder; whether it is of a file
/// being written.
[[nodiscard]] bool is_name(std::string_view name) noexcept;
[[nodiscard]] bool is_temporary(std::string_view name) noexcept;

/// Writes the file whole or not at all, readable by its owner only, since the bucket's readers may be others than the
/// machine's users. Returns its size in bytes.
/// Errors: as posix::whole_file_output.
std::uint64_t write(const std::string& path, const object_identity& what, byte_view object);

/// The object in a file, if it is the wanted one and intact; otherwise an existing file is removed, as is one larger
/// than any that would have been written.
/// Errors: as posix::file, except for missing files.
[[nodiscard]] std::optional<byte_buffer> read(const std::string& path, const object_identity& what,
                                              std::uint64_t most_bytes);

}  // namespace cache_file

/// Holds about `most_bytes` of objects that have versions. A process may be killed at any time; a truncated or damaged
/// file is ignored. If the disk is full, or the folder is read-only or missing, nothing is cached.
/// Once this process has written more than there is room for, the least recently used files are removed.
/// Trust: anyone with write access to the folder can change what is read. New folders and files are accessible to their
/// owner only (700, 600); the mode of an existing folder is kept.
/// Threads: everything may be called concurrently. Cost: a hit reads and checks a file.
class disk_cache {
public:
    /// The folder is made when there is something to store.
    disk_cache(std::string folder, std::uint64_t most_bytes);

    [[nodiscard]] std::optional<byte_buffer> find(const object_identity& what) const;
    [[nodiscard]] bool holds(const object_identity& what) const;
    void keep(const object_identity& what, byte_view bytes);
    void drop(const object_identity& what);

    [[nodiscard]] std::uint64_t largest() const noexcept { return most_ > room_for_name ? most_ - room_for_name : 0; }
    [[nodiscard]] const std::string& folder() const noexcept { return folder_; }

    /// Removes the least recently used files until there is room again, and leftovers of killed processes. Called
    /// automatically when enough has been written. Cost: a check of each file.
    void tidy();

private:
    using clock = std::chrono::steady_clock;
    static constexpr std::uint64_t room_for_name = 4096;
    static constexpr std::chrono::seconds pause{1};      // after a write that failed
    static constexpr std::chrono::hours left_behind{1};  // temporary files older than this belong to dead writers
    [[nodiscard]] std::string path_of(const object_identity& what) const {
        return folder_ + "/" + cache_file::name_of(what);
    }

    // Errors of the cache are swallowed: objects are then read without it. What doing() returns, or {}.
    template <class Doing>
    static std::invoke_result_t<Doing&> quietly(Doing&& doing) {
        try {
            return doing();
        } catch (const error&) {
        } catch (const std::bad_alloc&) {
        }
        return std::invoke_result_t<Doing&>();
    }

    // Tidies now and then, since other processes also write to the folder.
    void count(std::uint64_t written);

    void remove_oldest();

    std::string folder_;
    std::uint64_t most_;
    std::mutex guard_;
    std::mutex tidying_;
    clock::time_point not_before_{};
    bool has_looked_ = false;
    std::uint64_t bytes_ = 0;  // at the last check, plus what was written since
    std::uint64_t since_ = 0;  // written since the last check
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/cache/impl/disk_cache.ipp>
#endif
