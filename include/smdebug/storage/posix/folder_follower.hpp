// Finding what is new in a directory tree, at a look a folder instead of a listing.
#pragma once

#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/posix/stamp.hpp>

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

namespace smdebug {
inline namespace v1 {
namespace detail {

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
    basic_folder_follower(std::string root, std::string_view prefix, System system = System{});

    /// The keys, relative to the root, of the files in the folders that had to be listed.  Links are followed, but not
    /// to a folder that is followed anyway: circles end.
    /// Errors: access_denied, unavailable; the next call then gives what this one would have given.
    [[nodiscard]] std::vector<std::string> next();

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

        void note(const posix::folder_look& seen);
        [[nodiscard]] std::optional<std::chrono::nanoseconds> latest_of(std::uint64_t device) const;
    };

    // Looks at every folder that is known: those that have moved wait to be listed.
    void look_at_all(round& work);

    void list_waiting(round& work, std::vector<std::string>& keys);

    // Lists one folder.  Its stamp is taken before its entries are read: what changes from then on moves the stamp.
    void list(const std::string& name, round& work, std::vector<std::string>& keys);

    // Takes in a folder that was not known.  It is looked at before any other is listed: the more times are known of
    // a device, the more folders are settled by their first listing.
    void discover(const std::string& name, round& work);

    // A folder that has gone, and all below it.  Its parent is listed to see what has taken its place: where it was
    // reached through a link, the parent's own stamp has not moved.
    typename folder_map::iterator forget_gone(typename folder_map::iterator at, round& work);

    // Has a folder listed: in this call where that is still to come, and in the next.
    void look_again(std::string_view name, round& work);

    [[nodiscard]] posix::folder_look look(round& work, const std::string& name);

    void update(folder& known, const posix::folder_look& seen);

    // True where the system cannot tell: opening the folder will show it.
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

static_assert(key_follower<folder_follower>);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/folder_follower.tpp>
#endif
