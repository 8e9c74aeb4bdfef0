// The bodies of <smdebug/storage/posix/folder_follower.hpp>.
#pragma once

#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/posix/folder_follower.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cassert>
#include <cerrno>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE posix::folder_look posix::look_at_folder(int base, const char* name) noexcept {
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

SMDEBUG_INLINE bool posix::has_trusted_times(int folder) noexcept {
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

SMDEBUG_INLINE std::unique_ptr<folder_follower> follow_folder(std::string root, std::string_view prefix,
                                                              posix::folder_system system) {
    return std::make_unique<followed_folders>(std::move(root), prefix, std::move(system));
}

}  // namespace smdebug::inline v1::detail
