// A signal for local directories, by inotify.
// Linux only, and the library's only use of inotify. It reports writes of this machine, not those of others to a shared
// file system.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
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

/// Wakes when files appear or change below a root, under one of some prefixes. Neither the prefixes' folders nor the
/// root need exist: the nearest existing folder is watched, and others as they appear. Of the folders below a prefix
/// that ends in '/', the `most_folders` newest by name of each level are watched: those that grow. If some are not
/// watched, changed_keys() returns nothing, so that everything is checked.
/// Cost: two descriptors, one of the system's inotify instances (often 128 per user), and one watch per folder. A wait
/// costs a few system calls, and a listing of the prefixes' folders when one was added or removed.
/// Threads: one waits; interrupt() may be called from any.
class folder_watch final : public change_signal {
public:
    static constexpr std::chrono::seconds recheck{10};  ///< how often the folders themselves are checked
    static constexpr std::size_t most_folders = 1024;

    /// Watches from now on: anything that appears after this call wakes. A prefix is a whole key or ends in '/'; empty:
    /// all keys.
    /// Nothing if the system has no more instances or watches, or no prefix is below the root.
    [[nodiscard]] static std::unique_ptr<change_signal> open(std::string_view root,
                                                             std::span<const std::string> prefixes);

    /// Errors: unavailable (the system cannot wait).
    [[nodiscard]] SMDEBUG_INLINE bool wait_until(clock::time_point until) override;

    [[nodiscard]] std::optional<std::vector<std::string>> changed_keys() override { return changed_keys_; }

    SMDEBUG_INLINE void interrupt() noexcept override;

private:
    /// One prefix, parsed.
    struct target {
        std::vector<std::string> way;  // the folders from the root down, the last one included
        std::string leaf;              // the file in it; empty: everything in it and below
    };
    /// What is relevant in a watched folder.
    struct interest {
        std::string path;  // the path by which it is watched; empty: several lead to it
        bool everything = false;
        std::set<std::string, std::less<>> leaves;  // files
        std::set<std::string, std::less<>> ways;    // folders that lead on
    };

    folder_watch(posix::descriptor events, posix::descriptor bell)
        : events_(std::move(events)), bell_(std::move(bell)) {}

    void set_out(std::string_view root, std::span<const std::string> prefixes);

    [[nodiscard]] static std::vector<std::string> parts_of(std::string_view path);

    // Watching --------------------------------------------------------------------------------------------------------

    // Updates the watches. Returns whether a new folder is watched.
    [[nodiscard]] bool watch_all();

    // Watches the folders above the root if the root does not exist. A folder is always watched before checking whether
    // the next one exists, so that its creation in between is not missed.
    void watch_way_to_root();

    void watch(const target& asked);

    // Watches a folder and those below it, level by level.
    void watch_below(std::string top);

    void add_subfolders(const std::string& folder, std::vector<std::string>& found);

    // Nothing if the folder cannot be watched: errno has the reason. A folder may be watched for several reasons, which
    // are combined.
    [[nodiscard]] interest* watch(const std::string& folder, std::uint32_t more = 0);

    // Events ----------------------------------------------------------------------------------------------------------

    // Reads pending events. Returns whether any is relevant; sets outdated_ if folders were added or removed.
    [[nodiscard]] bool read_events();

    // Returns whether the caller must be woken.
    [[nodiscard]] bool take(int number, std::uint32_t what, std::string_view name);

    // A link may point to a folder; the event does not show that.
    [[nodiscard]] static bool is_link(const std::string& folder, std::string_view name);

    // Sleeping --------------------------------------------------------------------------------------------------------

    [[nodiscard]] bool take_interrupt() noexcept;

    void sleep(clock::time_point until);

    posix::descriptor events_;
    posix::descriptor bell_;
    std::string root_;
    std::vector<std::pair<std::string, std::string>> above_;  // a folder above the root, and the name that leads on
    std::vector<target> targets_;
    std::map<int, interest> watched_;  // by the system's watch number
    std::optional<std::vector<std::string>> changed_keys_;
    clock::time_point watched_at_{};
    bool partial_ = false;   // some folders are not watched
    bool outdated_ = false;  // folders were added or removed since the last update
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/watch.ipp>
#endif
