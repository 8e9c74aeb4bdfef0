// A signal for local directories, by inotify.
// Linux only, and the library's only use of inotify. It reports writes of this machine, not those of others to a shared
// file system.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// Of the folders below a prefix, so many of each level are watched.
inline constexpr std::size_t most_watched_folders = 1024;

/// A signal that wakes when files appear or change below a root, under one of some prefixes: whole keys, or folders
/// with a '/' at their end; without any it is all keys. Anything that appears after this call wakes. Neither the
/// prefixes' folders nor the root need exist: the nearest existing folder is watched, and others as they appear. Of the
/// folders below a prefix that ends in '/', the most_watched_folders newest by name of each level are watched: those
/// that grow. If some are not watched, changed_keys() returns nothing, so that everything is checked.
/// Nothing if the system has no more instances or watches, or no prefix is below the root.
/// Errors of waiting: unavailable (the system cannot wait).
/// Cost: two descriptors, one of the system's inotify instances (often 128 per user), and one watch per folder. A wait
/// costs a few system calls, and a listing of the prefixes' folders when one was added or removed.
[[nodiscard]] std::unique_ptr<change_signal> watch_folders(std::string_view root,
                                                           std::span<const std::string> prefixes);

class folder_watch final : public change_signal {
public:
    folder_watch(std::string_view root, std::span<const std::string> prefixes)
        : root_(root.starts_with('/') ? "" : ".") {
        for (std::string& part : parts_of(root)) {
            above_.emplace_back(root_.empty() ? "/" : root_, part);
            root_.append("/").append(part);
        }
        root_ = root_.empty() ? "/" : root_;
        for (const std::string& prefix : prefixes) {
            if (prefix.empty() || stays_inside(prefix)) {
                target asked{.way = parts_of(prefix), .leaf = {}};
                if (!asked.way.empty() && !prefix.ends_with('/')) {
                    asked.leaf = std::move(asked.way.back());
                    asked.way.pop_back();
                }
                targets_.push_back(std::move(asked));
            }
        }
        if (!root.empty() && !targets_.empty() && events_.get() >= 0 && bell_.get() >= 0) {
            static_cast<void>(watch_all());
        }
    }

    [[nodiscard]] bool watches() const noexcept { return !watched_.empty(); }

    [[nodiscard]] bool wait_until(clock::time_point until) override {
        changed_keys_.emplace();
        for (;;) {
            bool changed = read_events();
            // A folder above the root may have been moved away, which causes no event.
            outdated_ = outdated_ || clock::now() - watched_at_ > recheck;
            if (outdated_ && watch_all()) {
                // A newly watched folder may already contain files: the caller must check.
                changed = true;
                changed_keys_.reset();
            }
            if (partial_) {
                changed_keys_.reset();
            }
            std::uint64_t times = 0;
            const bool interrupted = ::read(bell_.get(), &times, sizeof times) > 0;
            if (changed || interrupted || clock::now() >= until) {
                return changed;
            }
            sleep(until);
        }
    }

    [[nodiscard]] std::optional<std::vector<std::string>> changed_keys() override { return changed_keys_; }

    void interrupt() noexcept override {
        const std::uint64_t one = 1;
        while (::write(bell_.get(), &one, sizeof one) < 0 && errno == EINTR) {
        }
    }

private:
    static constexpr std::chrono::seconds recheck{10};  // how often the folders themselves are checked

    // One prefix, parsed.
    struct target {
        std::vector<std::string> way;  // the folders from the root down, the last one included
        std::string leaf;              // the file in it; empty for everything in it and below
    };
    // What is relevant in a watched folder.
    struct interest {
        std::string path;  // the path by which it is watched; empty if several lead to it
        bool everything = false;
        std::set<std::string, std::less<>> leaves;  // files
        std::set<std::string, std::less<>> ways;    // folders that lead on
    };

    [[nodiscard]] static std::vector<std::string> parts_of(std::string_view path) {
        std::vector<std::string> parts;
        while (!path.empty()) {
            const std::string_view part = path.substr(0, path.find('/'));
            if (!part.empty() && part != ".") {
                parts.emplace_back(part);
            }
            path.remove_prefix(std::min(part.size() + 1, path.size()));
        }
        return parts;
    }

    // Watching --------------------------------------------------------------------------------------------------------

    // Updates the watches. Returns whether a new folder is watched.
    [[nodiscard]] bool watch_all() {
        const std::map<int, interest> before = std::exchange(watched_, {});
        outdated_ = false;
        partial_ = false;
        watched_at_ = clock::now();
        watch_way_to_root();
        for (const target& asked : targets_) {
            watch_target(asked);
        }
        for (const auto& known : before) {
            if (!watched_.contains(known.first)) {
                ::inotify_rm_watch(events_.get(), known.first);
            }
        }
        return std::any_of(watched_.begin(), watched_.end(),
                           [&](const auto& known) { return !before.contains(known.first); });
    }

    // Watches the folders above the root if the root does not exist. A folder is always watched before checking whether
    // the next one exists, so that its creation in between is not missed.
    void watch_way_to_root() {
        const auto watch_step = [&](std::size_t level) {
            interest* above = watch(above_[level].first);
            return above != nullptr && (above->ways.insert(above_[level].second), true);
        };
        std::size_t level = above_.size();
        bool watches = watch(root_) != nullptr;
        while (!watches && posix::means_missing(errno) && level > 0) {
            watches = watch_step(--level);
        }
        for (++level; watches && level < above_.size(); ++level) {
            watches = watch_step(level);
        }
    }

    void watch_target(const target& asked) {
        std::string path = root_;
        for (const std::string& part : asked.way) {
            if (interest* watched = watch(path)) {
                watched->ways.insert(part);
            } else if (posix::means_missing(errno)) {
                return;
            }
            path.append("/").append(part);
        }
        if (asked.leaf.empty()) {
            watch_below(std::move(path));
        } else if (interest* watched = watch(path, IN_CLOSE_WRITE)) {
            watched->leaves.insert(asked.leaf);
        }
    }

    // Watches a folder and those below it, level by level.
    void watch_below(std::string top) {
        std::vector<std::string> level{std::move(top)};
        while (!level.empty()) {
            std::vector<std::string> next;
            for (const std::string& folder : level) {
                interest* watched = watch(folder, IN_CLOSE_WRITE);
                if (watched != nullptr && !std::exchange(watched->everything, true)) {  // else a circle of links
                    add_subfolders(folder, next);
                }
            }
            std::sort(next.begin(), next.end(), std::greater<>{});
            partial_ = partial_ || next.size() > most_watched_folders;
            next.resize(std::min(next.size(), most_watched_folders));
            level = std::move(next);
        }
    }

    void add_subfolders(const std::string& folder, std::vector<std::string>& found) {
        try {
            if (auto reader = posix::folder_reader::open_if_there(posix::working_folder, folder, folder)) {
                reader->each([&](const posix::folder_entry& entry) {
                    using kind = posix::folder_entry::kind;
                    if (entry.what == kind::folder || entry.what == kind::link) {
                        found.push_back(posix::joined(folder + "/", entry.name));
                    }
                });
            }
        } catch (const error&) {
            outdated_ = true;  // to be retried; reading the folder reports the error
            partial_ = true;
        }
    }

    // Nothing if the folder cannot be watched: errno has the reason. A folder may be watched for several reasons, which
    // are combined.
    [[nodiscard]] interest* watch(const std::string& folder, std::uint32_t more = 0) {
        constexpr std::uint32_t comings = IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF;
        const int number =
            ::inotify_add_watch(events_.get(), folder.c_str(), comings | more | IN_ONLYDIR | IN_MASK_ADD);
        if (number < 0) {
            partial_ = partial_ || !posix::means_missing(errno);
            return nullptr;
        }
        const auto [entry, is_new] = watched_.try_emplace(number);
        interest& watched = entry->second;
        watched.path = is_new || watched.path == folder ? folder : std::string{};
        return &watched;
    }

    // Events ----------------------------------------------------------------------------------------------------------

    // Reads pending events. Returns whether any is relevant; sets outdated_ if folders were added or removed.
    [[nodiscard]] bool read_events() {
        alignas(::inotify_event) std::array<char, 16384> buffer;  // one event is 272 bytes at most
        bool changed = false;
        for (;;) {
            const ssize_t got = ::read(events_.get(), buffer.data(), buffer.size());
            if (got < 0 && errno == EINTR) {
                continue;
            }
            if (got <= 0) {
                return changed;
            }
            for (std::size_t place = 0; place < static_cast<std::size_t>(got);) {
                ::inotify_event event;
                std::memcpy(&event, &buffer[place], sizeof event);
                place += sizeof event;
                // The name is padded with zeros; events of the folder itself have none.
                const std::string_view name = event.len == 0 ? "" : std::string_view{&buffer[place]};
                place += event.len;
                changed = take(event.wd, event.mask, name) || changed;
            }
        }
    }

    // Returns whether the caller must be woken.
    [[nodiscard]] bool take(int number, std::uint32_t what, std::string_view name) {
        const auto entry = watched_.find(number);
        const bool overflows = (what & IN_Q_OVERFLOW) != 0;
        if (entry == watched_.end() && !overflows) {
            return false;
        }
        if (overflows || (what & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)) != 0) {
            outdated_ = true;
            changed_keys_.reset();
            return true;
        }
        const interest& watched = entry->second;
        const bool comes = (what & (IN_CREATE | IN_MOVED_TO)) != 0;
        const bool is_folder = (what & IN_ISDIR) != 0 || (watched.everything && comes && is_link(watched.path, name));
        outdated_ = outdated_ || (comes && (watched.ways.contains(name) || (watched.everything && is_folder)));
        if (!watched.everything && !watched.leaves.contains(name)) {
            return false;
        }
        if (is_folder || watched.path.empty()) {
            changed_keys_.reset();  // a new folder may already contain files
        } else if (changed_keys_) {
            changed_keys_->push_back(posix::joined(watched.path + "/", name).substr(root_.size() + 1));
        }
        return true;
    }

    // A link may point to a folder; the event does not show that.
    [[nodiscard]] static bool is_link(const std::string& folder, std::string_view name) {
        struct ::stat info = {};
        return ::lstat(posix::joined(folder + "/", name).c_str(), &info) == 0 && S_ISLNK(info.st_mode);
    }

    void sleep(clock::time_point until) const {
        // Far deadlines do not fit every kernel's clock; the caller's loop goes on.
        using std::chrono::nanoseconds;
        const auto left = std::clamp<nanoseconds>(until - clock::now(), nanoseconds{0}, recheck);
        const auto whole = std::chrono::duration_cast<std::chrono::seconds>(left);
        const ::timespec timeout{.tv_sec = whole.count(), .tv_nsec = (left - whole).count()};
        std::array<::pollfd, 2> sources{::pollfd{.fd = events_.get(), .events = POLLIN, .revents = 0},
                                        ::pollfd{.fd = bell_.get(), .events = POLLIN, .revents = 0}};
        if (::ppoll(sources.data(), sources.size(), &timeout, nullptr) < 0 && errno != EINTR) {
            posix::fail("cannot wait for changes of", root_, errno);
        }
    }

    posix::descriptor events_{::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
    posix::descriptor bell_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    std::string root_;
    std::vector<std::pair<std::string, std::string>> above_;  // a folder above the root, and the name that leads on
    std::vector<target> targets_;
    std::map<int, interest> watched_;  // by the system's watch number
    std::optional<std::vector<std::string>> changed_keys_;
    clock::time_point watched_at_{};
    bool partial_ = false;   // some folders are not watched
    bool outdated_ = false;  // folders were added or removed since the last update
};

inline std::unique_ptr<change_signal> watch_folders(std::string_view root, std::span<const std::string> prefixes) {
    auto made = std::make_unique<folder_watch>(root, prefixes);
    return made->watches() ? std::move(made) : nullptr;
}

}  // namespace smdebug::inline v1::detail
