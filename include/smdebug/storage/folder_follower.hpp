// Finding what is new in a directory tree, at a look a folder instead of a listing.
// Used by: storage/local_storage.hpp.
#pragma once

#include <smdebug/core/relative_path.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix_file.hpp>
#include <smdebug/storage/posix_folder.hpp>
#include <smdebug/storage/posix_stamp.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Follows the files below a folder that need not be there yet; models key_follower.  A pipe or device counts as one,
/// and so does a link to one: reading it is an error, which is better than silence.
/// A folder is listed again only when its stamp has moved, or when an unmoved stamp proves nothing: because the tick of
/// its last change may not have been over when it was listed, or because its file system does not move folder times.
/// `System` answers as posix::folder_system does; tests have one of their own.
/// Cost:    nothing new: a system call for each folder (about a microsecond on a local disk), and three; else a listing
///          of each folder that has changed, and one more of it some 50 ms later.  Memory: some 200 bytes a folder.
///          Nothing is kept open between calls.
/// Threads: one at a time.
template <class System = posix::folder_system>
class basic_folder_follower {
public:
    /// Follows root/prefix; `prefix` ends in '/', or is empty for the root itself.  A prefix that leads out of the root
    /// has nothing.
    basic_folder_follower(std::string root, std::string_view prefix, System system = {})
        : root_(std::move(root)), prefix_(prefix), system_(std::move(system)) {
        assert(prefix.empty() || prefix.ends_with('/'));
    }

    /// The keys, relative to the root, of the files in the folders that had to be listed.  Links are followed, but not
    /// to a folder that is followed anyway: circles end.
    /// Errors: access_denied, unavailable; the next call then gives what this one would have given.
    [[nodiscard]] std::vector<std::string> next() {
        folders_listed_ = 0;
        std::vector<std::string> keys;
        std::optional<posix::directory_handle> top;
        if (!root_.empty() && (prefix_.empty() || stays_inside(prefix_))) {
            top = posix::directory_handle::open(root_ + "/" + prefix_);
        }
        if (!top) {
            folders_.clear();  // what comes back is new
            return keys;
        }
        round work{.top = top->get(), .time_of_day = system_.time_of_day()};
        look_at_all(work);
        if (!work.waiting.empty()) {
            work.note(system_.look(posix::working_folder, root_.c_str()));
            list_waiting(work, keys);
            std::sort(keys.begin(), keys.end());
            keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
            // Only now, when nothing can throw any more: what a failed call had listed has to be listed again.
            for (auto& [name, held] : folders_) {
                held.settled = held.settled || held.settles;
            }
        }
        return keys;
    }

    /// Makes the next call list everything.
    void forget() { folders_.clear(); }

    /// How many folders the last call has listed.
    [[nodiscard]] std::size_t folders_listed() const noexcept { return folders_listed_; }

private:
    using steady_time = std::chrono::steady_clock::time_point;

    struct folder {
        std::optional<posix::folder_stamp> stamp;    // nothing: the system does not tell
        std::optional<posix::folder_identity> self;  // once listed
        steady_time first_seen{};                    // the stamp
        bool settled = false;                        // all that it has is handed over until the stamp moves
        bool listed = false;                         // in this call
        bool settles = false;                        // becomes settled when this call succeeds
    };
    using folder_map = std::map<std::string, folder, std::less<>>;

    // One call of next().
    struct round {
        int top = -1;                                                   // root/prefix, open
        std::chrono::nanoseconds time_of_day{};                         // when the call began
        std::set<std::string> waiting = {};                             // folders to be listed
        std::map<std::string, posix::folder_identity> links = {};       // new ones, by path
        std::map<std::uint64_t, std::chrono::nanoseconds> latest = {};  // what each device's clock has shown

        void note(const posix::folder_look& seen) {
            // A time ahead of ours may be from before a clock was set back, and then proves nothing.
            if (seen.is == posix::folder_look::state::there && seen.stamp.changed <= time_of_day) {
                auto& held = latest.try_emplace(seen.stamp.self.device, seen.stamp.changed).first->second;
                held = std::max(held, seen.stamp.changed);
            }
        }
        [[nodiscard]] std::optional<std::chrono::nanoseconds> latest_of(std::uint64_t device) const {
            const auto found = latest.find(device);
            return found == latest.end() ? std::nullopt : std::optional{found->second};
        }
    };

    // Looks at every folder that is known: those that have moved wait to be listed.
    void look_at_all(round& work) {
        if (const auto top = folders_.find(""); top != folders_.end() && !is_same(top->second, look(work, ""))) {
            folders_.clear();
        }
        folders_.try_emplace("");
        for (auto at = folders_.begin(); at != folders_.end();) {
            auto& [name, held] = *at;
            held.listed = false;
            const posix::folder_look seen = look(work, name);
            if (!name.empty() && !is_same(held, seen)) {
                at = forget_gone(at, work);
                continue;
            }
            update(held, seen);
            if (!held.settled) {
                work.waiting.insert(name);
            }
            ++at;
        }
    }

    void list_waiting(round& work, std::vector<std::string>& keys) {
        for (;;) {
            if (!work.waiting.empty()) {
                list(work.waiting.extract(work.waiting.begin()).value(), work, keys);
            } else if (!work.links.empty()) {
                // Links come last: only now is it known what is followed anyway.
                const auto link = work.links.extract(work.links.begin());
                if (is_followed(link.mapped())) {
                    look_again(parent_of(link.key()), work);  // until what is followed now has gone
                } else {
                    discover(link.key(), work);
                }
            } else {
                return;
            }
        }
    }

    // Lists one folder.  Its stamp is taken before its entries are read: what changes from then on moves the stamp.
    void list(const std::string& name, round& work, std::vector<std::string>& keys) {
        const auto at = folders_.find(name);
        if (at == folders_.end()) {
            return;
        }
        folder& held = at->second;
        const steady_time began = system_.now();
        auto reader =
            posix::folder_reader::open_if_there(work.top, name.empty() ? "." : name, root_ + "/" + prefix_ + name);
        const posix::folder_look seen =
            reader ? system_.look(reader->get(), "") : posix::folder_look{.is = posix::folder_look::state::missing};
        if (!is_same(held, seen)) {
            forget_gone(at, work);
            return;
        }
        ++folders_listed_;
        held.listed = true;
        held.self = reader->identity();
        update(held, seen);
        bool settles = held.stamp && system_.trusts(reader->get()) &&
                       posix::is_settled(*held.stamp, held.first_seen, began, work.latest_of(held.stamp->self.device));
        const std::string stem = prefix_ + name;
        reader->each([&](const posix::folder_entry& entry) {
            using kind = posix::folder_entry::kind;
            if (entry.what == kind::file || entry.what == kind::other || entry.what == kind::loose_other) {
                // A pipe or device in the place of a file, too, or a link to one: whoever reads it is told.
                keys.push_back(posix::joined(stem, entry.name));
            } else if (entry.what == kind::folder || entry.what == kind::link) {
                std::string below = posix::joined(name, entry.name) + '/';
                if (!folders_.contains(below)) {
                    if (entry.what == kind::folder) {
                        discover(below, work);
                    } else {
                        work.links.emplace(std::move(below), entry.target);
                    }
                }
            }
            if (entry.what == kind::loose || entry.what == kind::loose_other) {
                settles = false;
            }
        });
        held.settles = settles;
    }

    // Takes in a folder that was not known.  It is looked at before any other is listed: the more times are known of
    // a device, the more folders are settled by their first listing.
    void discover(const std::string& name, round& work) {
        update(folders_.try_emplace(name).first->second, look(work, name));
        work.waiting.insert(name);
    }

    // A folder that has gone, and all below it.  Its parent is listed to see what has taken its place: where it was
    // reached through a link, the parent's own stamp has not moved.
    typename folder_map::iterator forget_gone(typename folder_map::iterator at, round& work) {
        const std::string gone = at->first;
        while (at != folders_.end() && at->first.starts_with(gone)) {
            at = folders_.erase(at);
        }
        if (!gone.empty()) {
            look_again(parent_of(gone), work);
        }
        return at;
    }

    // Has a folder listed: in this call where that is still to come, and in the next.
    void look_again(std::string_view name, round& work) {
        if (const auto at = folders_.find(name); at != folders_.end()) {
            at->second.settled = at->second.settles = false;
            if (!at->second.listed) {
                work.waiting.insert(at->first);
            }
        }
    }

    [[nodiscard]] posix::folder_look look(round& work, const std::string& name) {
        const posix::folder_look seen = system_.look(work.top, name.c_str());
        work.note(seen);
        return seen;
    }

    void update(folder& held, const posix::folder_look& seen) {
        const bool told = seen.is == posix::folder_look::state::there;
        if (!told || held.stamp != seen.stamp) {
            held.stamp = told ? std::optional{seen.stamp} : std::nullopt;
            held.first_seen = system_.now();
            held.settled = false;
        }
    }

    // Where the system does not tell, opening the folder will.
    [[nodiscard]] static bool is_same(const folder& held, const posix::folder_look& seen) noexcept {
        return seen.is != posix::folder_look::state::missing &&
               (seen.is == posix::folder_look::state::unknown || !held.stamp || held.stamp->self == seen.stamp.self);
    }

    [[nodiscard]] bool is_followed(const posix::folder_identity& self) const {
        return std::any_of(folders_.begin(), folders_.end(),
                           [&](const auto& held) { return held.second.self == self; });
    }

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

static_assert(key_follower<folder_follower>);

}  // namespace v1
}  // namespace smdebug
