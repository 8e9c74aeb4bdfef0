// Finds what is new in a directory tree with one check per folder instead of a listing.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

/// How far the file system's clock must advance until a change is sure to change a stamp: longer than a tick of the
/// kernel, or of a file system with resolution of one or two seconds.
[[nodiscard]] constexpr std::chrono::nanoseconds guard_of(const folder_stamp& stamp) noexcept {
    using namespace std::chrono_literals;
    return stamp.changed % 1s != 0ns ? 50ms : 2100ms;
}

/// Whether a listing found everything that was added to a folder before its stamp changes again: whether the tick of
/// the folder's last change had ended when the listing began. It had if
///  - the stamp was first seen at least one guard time earlier, by our clock; or
///  - the file system had already shown a time later by a guard: `latest`, of any folder on the same device.
/// `stamp` was read when the listing began, or later, but before its entries were read.
[[nodiscard]] constexpr bool is_settled(const folder_stamp& stamp, std::chrono::steady_clock::time_point first_seen,
                                        std::chrono::steady_clock::time_point listing_began,
                                        std::optional<std::chrono::nanoseconds> latest) noexcept {
    return listing_began - first_seen >= guard_of(stamp) || (latest && *latest - stamp.changed >= guard_of(stamp));
}

/// Whether a kind of file system (statfs's f_type) is known to update a folder's times with its contents. Others may
/// not: some that run in user space always show the same times, and on some cluster file systems (lustre, ceph, gpfs)
/// the clients set them by their own clocks, which need not agree.
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

/// The system functions of basic_folder_follower.
struct folder_system {
    /// Checks the folder `name` below the folder `base`; an empty name is `base` itself.
    /// Cost: a system call; on network file systems a request to the server, since cached folder times may be a minute
    /// old.
    [[nodiscard]] static folder_look look(int base, const char* name) noexcept;

    /// Whether the file system of an open folder updates folder times.
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

/// Follows the files below a folder, which need not exist yet. A pipe or device, or a link to one,
/// counts as a file: the error when reading it is better than silence.
/// A folder is listed again only if its stamp has changed, or if an unchanged stamp proves nothing: because the tick of
/// its last change may not have ended when it was listed, or because its file system does not update folder times.
/// `System` has the functions of posix::folder_system; tests use one of their own.
/// Cost: nothing new: a system call per folder (about a microsecond on a local disk), and three more; otherwise also a
/// listing of each changed folder, and another some 50 ms later. Memory: some 200 bytes a folder. Nothing stays open
/// between calls.
/// Threads: one at a time.
template <class System = posix::folder_system>
class basic_folder_follower final : public key_follower {
public:
    /// Follows root/prefix; `prefix` ends in '/', or is empty for the root itself. A prefix outside the root has no
    /// files.
    basic_folder_follower(std::string root, std::string_view prefix, System system = System{});

    /// The keys, relative to the root, of the files in the folders that had to be listed. Links are followed, except to
    /// a folder that is followed anyway: circles end.
    /// Errors: access_denied, unavailable; the next call then returns what this one would have returned.
    [[nodiscard]] std::vector<std::string> next() override;

    /// Makes the next call list everything.
    void forget() override { folders_.clear(); }

    /// How many folders the last call listed.
    [[nodiscard]] std::size_t folders_listed() const noexcept { return folders_listed_; }

private:
    using steady_time = std::chrono::steady_clock::time_point;

    struct folder {
        std::optional<posix::folder_stamp> stamp;    // nothing: the system does not report it
        std::optional<posix::folder_identity> self;  // once listed
        steady_time first_seen{};                    // when the stamp was first seen
        bool settled = false;                        // all its keys are delivered until the stamp changes
        bool listed = false;                         // in this call
        bool settles = false;                        // becomes settled when this call succeeds
    };
    using folder_map = std::map<std::string, folder, std::less<>>;

    // One call of next().
    struct round {
        int top = -1;                                                   // root/prefix, open
        std::chrono::nanoseconds time_of_day{};                         // when the call began
        std::set<std::string> waiting = {};                             // folders still to be listed
        std::map<std::string, posix::folder_identity> links = {};       // new ones, by path
        std::map<std::uint64_t, std::chrono::nanoseconds> latest = {};  // the latest time seen on each device's clock

        void note(const posix::folder_look& seen);
        [[nodiscard]] std::optional<std::chrono::nanoseconds> latest_of(std::uint64_t device) const;
    };

    // Checks every known folder: those that have changed are queued for listing.
    void look_at_all(round& work);

    void list_waiting(round& work, std::vector<std::string>& keys);

    // Lists one folder. Its stamp is taken before its entries are read: later changes change the stamp.
    void list(const std::string& name, round& work, std::vector<std::string>& keys);

    // Adds a new folder. It is checked before any other is listed: the more times of a device are known, the more
    // folders are settled by their first listing.
    void discover(const std::string& name, round& work);

    // Removes a folder that no longer exists, and all below it. Its parent is listed to see what has replaced it: if
    // the folder was reached through a link, the parent's own stamp has not changed.
    typename folder_map::iterator forget_gone(typename folder_map::iterator at, round& work);

    // Queues a folder for listing: in this call if it is still to be listed, and in the next.
    void look_again(std::string_view name, round& work);

    [[nodiscard]] posix::folder_look look(round& work, const std::string& name);

    void update(folder& known, const posix::folder_look& seen);

    // True if the system does not report it: opening the folder will show it.
    [[nodiscard]] static bool is_same(const folder& known, const posix::folder_look& seen) noexcept;

    [[nodiscard]] bool is_followed(const posix::folder_identity& self) const;

    [[nodiscard]] static std::string_view parent_of(std::string_view name) noexcept {
        return name.substr(0, name.rfind('/', name.size() - 2) + 1);  // npos + 1 is 0
    }

    std::string root_;
    std::string prefix_;
    System system_;
    folder_map folders_;  // by path below root/prefix: "" is that folder itself, any other ends in '/'
    std::size_t folders_listed_ = 0;
};

using folder_follower = basic_folder_follower<>;

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/folder_follower.tpp>
#endif

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/folder_follower.ipp>
#endif
