// What a folder's times tell about whether something has come into it or gone.
// Linux: the file system's kind, and asking a server anew, are not POSIX.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace detail {
namespace posix {

/// What of a folder moves when a name appears in it or goes.
struct folder_stamp {
    folder_identity self;
    std::chrono::nanoseconds changed{};   ///< ctime, since 1970 by the file system's clock: nobody can set it
    std::chrono::nanoseconds modified{};  ///< mtime
    std::uint64_t size = 0;               ///< costs nothing more, and on some file systems moves within a tick
    friend bool operator==(const folder_stamp&, const folder_stamp&) = default;
};

/// What a look at a folder says.
struct folder_look {
    enum class state : std::uint8_t { there, missing, unknown };
    state is = state::unknown;
    folder_stamp stamp = {};  ///< when it is there
};

/// How far the file system's clock has to go on until a change is sure to move a stamp: longer than a tick of the
/// kernel's, or of a file system that has whole seconds, or every second one.
[[nodiscard]] constexpr std::chrono::nanoseconds guard_of(const folder_stamp& stamp) noexcept {
    using namespace std::chrono_literals;
    return stamp.changed % 1s != 0ns ? 50ms : 2100ms;
}

/// Whether a listing found all that came into a folder before its stamp moves again: whether the tick in which the
/// folder last changed was over when the listing began.  It was when
///  - the stamp had been seen a guard's time before, by our clock; or
///  - the file system had already given out a time later by a guard: `latest`, of any folder on the same device.
/// `stamp` is what the folder had when the listing began, or later, but before its entries were read.
[[nodiscard]] constexpr bool is_settled(const folder_stamp& stamp, std::chrono::steady_clock::time_point first_seen,
                                        std::chrono::steady_clock::time_point listing_began,
                                        std::optional<std::chrono::nanoseconds> latest) noexcept {
    return listing_began - first_seen >= guard_of(stamp) || (latest && *latest - stamp.changed >= guard_of(stamp));
}

/// Whether a kind of file system (statfs's f_type) is known to move a folder's times with its contents.  Others may
/// not: some that run in user space show the same times for ever, and on some cluster file systems (lustre, ceph, gpfs)
/// the clients' clocks, which need not agree, set them.
[[nodiscard]] constexpr bool moves_folder_times(std::uint32_t kind) noexcept {
    constexpr std::array<std::uint32_t, 12> known{
        0xEF53,      // ext2, ext3, ext4
        0x58465342,  // xfs
        0x9123683E,  // btrfs
        0x01021994,  // tmpfs
        0x858458F6,  // ramfs
        0x794C7630,  // overlayfs
        0xF2F52010,  // f2fs
        0x2FC12FC1,  // zfs
        0xCA451A4E,  // bcachefs
        0x3153464A,  // jfs
        0x52654973,  // reiserfs
        0x6969,      // nfs
    };
    return std::find(known.begin(), known.end(), kind) != known.end();
}

/// What basic_folder_follower asks the system.
struct folder_system {
    /// Looks at the folder `name` below the folder `base`; an empty name is `base` itself.
    /// Cost: a system call; on file systems of other machines a question to the server, as their caches of a folder's
    /// times may be a minute old.
    [[nodiscard]] static folder_look look(int base, const char* name) noexcept;

    /// Whether the file system of an open folder moves folder times.
    [[nodiscard]] static bool trusts(int folder) noexcept;

    [[nodiscard]] static std::chrono::steady_clock::time_point now() noexcept {
        return std::chrono::steady_clock::now();
    }
    /// The time of day, since 1970.
    [[nodiscard]] static std::chrono::nanoseconds time_of_day() noexcept {
        return std::chrono::system_clock::now().time_since_epoch();
    }

private:
    [[nodiscard]] static std::chrono::nanoseconds since_1970(const ::statx_timestamp& at) noexcept;
};

}  // namespace posix
}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/stamp.ipp>
#endif
