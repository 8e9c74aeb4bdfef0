// Finds what is new in a directory tree with one check per folder instead of a listing.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

inline posix::folder_look posix::look_at_folder(int base, const char* name) noexcept {
    struct ::statx info = {};
    if (::statx(base, name, AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
                STATX_TYPE | STATX_INO | STATX_SIZE | STATX_MTIME | STATX_CTIME, &info) != 0) {
        return {.is = means_missing(errno) ? folder_look::state::missing : folder_look::state::unknown};
    }
    if (!S_ISDIR(info.stx_mode)) {
        return {.is = folder_look::state::missing};
    }
    const auto since_1970 = [](const ::statx_timestamp& at) -> std::chrono::nanoseconds {
        // A damaged file system may report any number: the difference of two must also fit.
        constexpr std::int64_t farthest = 4'600'000'000;
        return std::chrono::seconds{std::clamp<std::int64_t>(at.tv_sec, -farthest, farthest)} +
               std::chrono::nanoseconds{at.tv_nsec};
    };
    return {.is = folder_look::state::there,
            .stamp = {.self = {makedev(info.stx_dev_major, info.stx_dev_minor), info.stx_ino},
                      .changed = since_1970(info.stx_ctime),
                      .modified = since_1970(info.stx_mtime),
                      .size = info.stx_size}};
}

inline bool posix::has_trusted_times(int folder) noexcept {
    struct ::statfs info = {};
    return ::fstatfs(folder, &info) == 0 && moves_folder_times(static_cast<std::uint32_t>(info.f_type));
}

class followed_folders final : public folder_follower {
public:
    followed_folders(std::string root, std::string_view prefix, posix::folder_system system)
        : root_(std::move(root)), prefix_(prefix), system_(std::move(system)) {
        assert(prefix.empty() || prefix.ends_with('/'));
    }

    [[nodiscard]] std::vector<std::string> next() override {
        folders_listed_ = 0;
        keys_.clear();
        std::optional<posix::descriptor> top;
        if (!root_.empty() && (prefix_.empty() || stays_inside(prefix_))) {
            top = posix::open_folder(root_ + "/" + prefix_);
        }
        if (!top) {
            folders_.clear();  // folders that reappear are new
            return {};
        }
        top_ = top->get();
        began_ = system_.time_of_day();
        waiting_.clear();
        links_.clear();
        latest_.clear();
        look_at_all();
        if (!waiting_.empty()) {
            note(system_.look(posix::working_folder, root_.c_str()));
            list_waiting();
            std::sort(keys_.begin(), keys_.end());
            keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
            // Only now, when nothing can throw any more: folders listed by a failed call must be listed again.
            for (auto& [name, known] : folders_) {
                known.settled = known.settled || known.settles;
            }
        }
        return std::exchange(keys_, {});
    }

    void forget() override { folders_.clear(); }

    [[nodiscard]] std::size_t folders_listed() const noexcept override { return folders_listed_; }

private:
    struct folder {
        std::optional<posix::folder_stamp> stamp;            // nothing if the system does not report it
        std::optional<posix::folder_identity> self;          // once listed
        std::chrono::steady_clock::time_point first_seen{};  // when the stamp was first seen
        bool settled = false;                                // all its keys are delivered until the stamp changes
        bool listed = false;                                 // in this call
        bool settles = false;                                // becomes settled when this call succeeds
    };
    using folder_map = std::map<std::string, folder, std::less<>>;

    // Checks every known folder: those that have changed are queued for listing.
    void look_at_all() {
        if (const auto top = folders_.find(""); top != folders_.end() && !is_same(top->second, look(""))) {
            folders_.clear();
        }
        folders_.try_emplace("");
        for (auto entry = folders_.begin(); entry != folders_.end();) {
            auto& [name, known] = *entry;
            known.listed = false;
            const posix::folder_look seen = look(name);
            if (!name.empty() && !is_same(known, seen)) {
                entry = forget_gone(entry);
                continue;
            }
            update(known, seen);
            if (!known.settled) {
                waiting_.insert(name);
            }
            ++entry;
        }
    }

    void list_waiting() {
        for (;;) {
            if (!waiting_.empty()) {
                list(waiting_.extract(waiting_.begin()).value());
            } else if (!links_.empty()) {
                // Links come last: only now all followed folders are known.
                const auto link = links_.extract(links_.begin());
                const bool is_followed = std::any_of(folders_.begin(), folders_.end(), [&](const auto& known) {
                    return known.second.self == link.mapped();
                });
                if (is_followed) {
                    look_again(parent_of(link.key()));  // if the folder is removed, only the link still leads there
                } else {
                    discover(link.key());
                }
            } else {
                return;
            }
        }
    }

    // Lists one folder. Its stamp is taken before its entries are read: later changes change the stamp.
    void list(const std::string& name) {
        const auto place = folders_.find(name);
        if (place == folders_.end()) {
            return;
        }
        folder& known = place->second;
        const auto began = system_.now();
        auto reader =
            posix::folder_reader::open_if_there(top_, name.empty() ? "." : name, root_ + "/" + prefix_ + name);
        const posix::folder_look seen =
            reader ? system_.look(reader->get(), "") : posix::folder_look{.is = posix::folder_look::state::missing};
        if (!is_same(known, seen)) {
            forget_gone(place);
            return;
        }
        ++folders_listed_;
        known.listed = true;
        known.self = reader->identity();
        update(known, seen);
        bool settles = known.stamp && system_.trusts(reader->get()) &&
                       posix::is_settled(*known.stamp, known.first_seen, began, latest_of(known.stamp->self.device));
        const std::string stem = prefix_ + name;
        reader->each([&](const posix::folder_entry& entry) {
            using kind = posix::folder_entry::kind;
            settles = settles && entry.what != kind::loose && entry.what != kind::loose_other;
            if (entry.what != kind::folder && entry.what != kind::link) {
                // Pipes, devices, links to them and dangling links count as files: reading one is an error.
                keys_.push_back(posix::joined(stem, entry.name));
                return;
            }
            std::string below = posix::joined(name, entry.name) + '/';
            if (folders_.contains(below)) {
                return;
            }
            if (entry.what == kind::folder) {
                discover(below);
            } else {
                links_.emplace(std::move(below), entry.target);
            }
        });
        known.settles = settles;
    }

    // Adds a new folder. It is checked before any other is listed: the more times of a device are known, the more
    // folders are settled by their first listing.
    void discover(const std::string& name) {
        update(folders_.try_emplace(name).first->second, look(name));
        waiting_.insert(name);
    }

    // Removes a folder that no longer exists, and all below it. Its parent is listed to see what has replaced it: if
    // the folder was reached through a link, the parent's own stamp has not changed.
    folder_map::iterator forget_gone(folder_map::iterator at) {
        const std::string gone = at->first;
        while (at != folders_.end() && at->first.starts_with(gone)) {
            at = folders_.erase(at);
        }
        if (!gone.empty()) {
            look_again(parent_of(gone));
        }
        return at;
    }

    // Queues a folder for listing: in this call if it is still to be listed, and in the next.
    void look_again(std::string_view name) {
        if (const auto place = folders_.find(name); place != folders_.end()) {
            place->second.settled = place->second.settles = false;
            if (!place->second.listed) {
                waiting_.insert(place->first);
            }
        }
    }

    [[nodiscard]] posix::folder_look look(const std::string& name) {
        const posix::folder_look seen = system_.look(top_, name.c_str());
        note(seen);
        return seen;
    }

    void note(const posix::folder_look& seen) {
        // A time in the future may be from before the clock was set back, and then proves nothing.
        if (seen.is == posix::folder_look::state::there && seen.stamp.changed <= began_) {
            auto& newest = latest_.try_emplace(seen.stamp.self.device, seen.stamp.changed).first->second;
            newest = std::max(newest, seen.stamp.changed);
        }
    }

    [[nodiscard]] std::optional<std::chrono::nanoseconds> latest_of(std::uint64_t device) const {
        const auto found = latest_.find(device);
        return found == latest_.end() ? std::nullopt : std::optional{found->second};
    }

    void update(folder& known, const posix::folder_look& seen) {
        const bool is_there = seen.is == posix::folder_look::state::there;
        if (!is_there || known.stamp != seen.stamp) {
            known.stamp = is_there ? std::optional{seen.stamp} : std::nullopt;
            known.first_seen = system_.now();
            known.settled = false;
        }
    }

    // True if the system does not report it: opening the folder will show it.
    [[nodiscard]] static bool is_same(const folder& known, const posix::folder_look& seen) noexcept {
        return seen.is != posix::folder_look::state::missing &&
               (seen.is == posix::folder_look::state::unknown || !known.stamp || known.stamp->self == seen.stamp.self);
    }

    [[nodiscard]] static std::string_view parent_of(std::string_view name) noexcept {
        return name.substr(0, name.rfind('/', name.size() - 2) + 1);  // npos + 1 is 0
    }

    std::string root_;
    std::string prefix_;
    posix::folder_system system_;
    folder_map folders_;  // by path below root/prefix: "" is that folder itself, any other ends in '/'
    std::size_t folders_listed_ = 0;
    // Of one call of next():
    int top_ = -1;                                              // root/prefix, open
    std::chrono::nanoseconds began_{};                          // by the time of day
    std::vector<std::string> keys_;                             // found
    std::set<std::string> waiting_;                             // folders still to be listed
    std::map<std::string, posix::folder_identity> links_;       // new ones, by path
    std::map<std::uint64_t, std::chrono::nanoseconds> latest_;  // the latest time seen on each device's clock
};

inline std::unique_ptr<folder_follower> follow_folder(std::string root, std::string_view prefix,
                                                      posix::folder_system system) {
    return std::make_unique<followed_folders>(std::move(root), prefix, std::move(system));
}

}  // namespace smdebug::inline v1::detail
