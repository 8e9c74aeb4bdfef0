// Finds what is new in a directory tree with one check per folder instead of a listing.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

// What a folder's times say about added and removed names.
// Linux only: the file system's kind, and querying a server anew, are not POSIX.
namespace smdebug::inline v1::detail {
namespace posix {

/// The properties of a folder that change when a name is added or removed.
struct folder_stamp {
    folder_identity self;
    std::chrono::nanoseconds changed{};   ///< ctime, since 1970 by the file system's clock: no program can set it
    std::chrono::nanoseconds modified{};  ///< mtime
    std::uint64_t size = 0;               ///< free to read, and on some file systems changes within a tick
    friend bool operator==(const folder_stamp&, const folder_stamp&) = default;
};

/// The result of checking a folder.
struct folder_look {
    enum class state : std::uint8_t { there, missing, unknown };
    state is = state::unknown;
    folder_stamp stamp = {};  ///< if it exists
};

/// Whether a listing found everything that was added to a folder before its stamp changes again: whether the tick of
/// the folder's last change had ended when the listing began. It had if
///  - the stamp was first seen at least one guard time earlier, by our clock; or
///  - the file system had already shown a time later by a guard: `latest`, of any folder on the same device.
/// `stamp` was read when the listing began, or later, but before its entries were read.
[[nodiscard]] constexpr bool is_settled(const folder_stamp& stamp, std::chrono::steady_clock::time_point first_seen,
                                        std::chrono::steady_clock::time_point listing_began,
                                        std::optional<std::chrono::nanoseconds> latest) noexcept {
    return listing_began - first_seen >= guard_of(stamp.changed) ||
           (latest && *latest - stamp.changed >= guard_of(stamp.changed));
}

/// Whether a kind of file system (statfs's f_type) is known to update a folder's times with its contents. Others may
/// not: some that run in user space always show the same times, and on some cluster file systems (lustre, ceph, gpfs)
/// the clients set them by their own clocks, which need not agree.
[[nodiscard]] constexpr bool moves_folder_times(std::uint32_t kind) noexcept {
    constexpr std::array<std::uint32_t, 4> others{
        0x794C7630,  // overlayfs
        0x3153464A,  // jfs
        0x52654973,  // reiserfs
        0x6969,      // nfs
    };
    return leases_bind(kind) || std::find(others.begin(), others.end(), kind) != others.end();
}

/// Checks the folder `name` below the folder `base`; an empty name is `base` itself.
/// Cost: a system call; on network file systems a request to the server, since cached folder times may be a minute old.
[[nodiscard]] folder_look look_at_folder(int base, const char* name) noexcept;

/// Whether the file system of an open folder updates folder times.
[[nodiscard]] bool has_trusted_times(int folder) noexcept;

/// What a follower asks of the system. Tests give other answers.
struct folder_system {
    std::function<folder_look(int base, const char* name)> look = look_at_folder;
    std::function<bool(int folder)> trusts = has_trusted_times;
    std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
    /// The time of day, since 1970.
    std::function<std::chrono::nanoseconds()> time_of_day = [] {
        return std::chrono::system_clock::now().time_since_epoch();
    };
};

}  // namespace posix

/// Follows the files below a folder, which need not exist yet. A pipe or device, or a link to one,
/// counts as a file: the error when reading it is better than silence.
/// A folder is listed again only if its stamp has changed, or if an unchanged stamp proves nothing: because the tick of
/// its last change may not have ended when it was listed, or because its file system does not update folder times.
/// next() returns the keys, relative to the root, of the files in the folders that had to be listed. Links are
/// followed, except to a folder that is followed anyway: circles end. Errors: access_denied, unavailable; the next call
/// then returns what this one would have returned.
/// Cost: nothing new: a system call per folder (about a microsecond on a local disk), and three more; otherwise also a
/// listing of each changed folder, and another some 50 ms later. Memory: some 200 bytes a folder. Nothing stays open
/// between calls.
class folder_follower : public key_follower {
public:
    /// How many folders the last call listed.
    [[nodiscard]] virtual std::size_t folders_listed() const noexcept = 0;
};

/// Follows root/prefix; `prefix` ends in '/', or is empty for the root itself. A prefix outside the root has no files.
[[nodiscard]] std::unique_ptr<folder_follower> follow_folder(std::string root, std::string_view prefix,
                                                             posix::folder_system system = {});

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/folder_follower.ipp>
#endif
