// A signal for directories on this machine, by inotify.
// Linux only, and all that the library has of inotify.  It tells of what this machine writes, not of what others write
// to a shared file system.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/change_signal.hpp>
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

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Wakes when files appear or change below a root, under one of some prefixes.  What a prefix names need not be there,
/// and neither need the root: the nearest folder that is there is watched, and others as they come.  Of the folders
/// below a prefix that ends in '/', the `most_folders` newest by name of each level are watched: those that
/// grow; where some are not, told() says nothing, so that everything is looked at.
/// Cost:    two descriptors, one of the system's inotify instances (often 128 a user), and a watch a folder.  A wait
///          costs a few system calls, and a listing of the prefixes' folders when one has come or gone.
/// Threads: one waits; interrupt() may come from any.
class folder_watch final : public change_signal {
public:
    static constexpr std::chrono::seconds recheck{10};  ///< how often the folders themselves are looked at
    static constexpr std::size_t most_folders = 1024;

    /// Watches from now on: what comes after this call wakes.  A prefix names a whole key or ends in '/'; empty: all.
    /// Nothing when the system has no more instances or watches to give, or no prefix lies below the root.
    [[nodiscard]] static std::unique_ptr<change_signal> open(std::string_view root,
                                                             std::span<const std::string> prefixes);

    /// Errors: unavailable (the system cannot wait).
    [[nodiscard]] SMDEBUG_INLINE bool wait_until(clock::time_point until) override;

    [[nodiscard]] std::optional<std::vector<std::string>> told() override { return changed_keys_; }

    SMDEBUG_INLINE void interrupt() noexcept override;

private:
    /// What a prefix asks for.
    struct target {
        std::vector<std::string> way;  // the folders on the way from the root, the last one included
        std::string leaf;              // the file in it; empty: everything in it and below
    };
    /// What matters of a folder that is watched.
    struct interest {
        std::string path;  // by which it is watched; empty: several lead to it
        bool everything = false;
        std::set<std::string, std::less<>> leaves;  // files
        std::set<std::string, std::less<>> ways;    // folders that lead on
    };

    folder_watch(posix::descriptor events, posix::descriptor bell)
        : events_(std::move(events)), bell_(std::move(bell)) {}

    void set_out(std::string_view root, std::span<const std::string> prefixes);

    [[nodiscard]] static std::vector<std::string> parts_of(std::string_view path);

    // Watching --------------------------------------------------------------------------------------------------------

    // Brings the watches up to date.  Returns whether a folder is watched that was not.
    [[nodiscard]] bool watch_all();

    // What leads to the root, where it is not there.  A folder is always watched before it is asked whether the next
    // one is there: that one then cannot come unseen in between.
    void watch_way_to_root();

    void watch(const target& asked);

    // A folder and those below it, level by level.
    void watch_below(std::string top);

    void add_subfolders(const std::string& folder, std::vector<std::string>& found);

    // Nothing when the folder cannot be watched: errno tells why.  A folder may be watched for several reasons: what is
    // asked for adds to what was.
    [[nodiscard]] interest* watch(const std::string& folder, std::uint32_t more = 0);

    // Events ----------------------------------------------------------------------------------------------------------

    // Reads what there is.  Returns whether any of it matters; sets outdated_ when folders have come or gone.
    [[nodiscard]] bool read_events();

    // Returns whether the caller has to know.
    [[nodiscard]] bool take(int number, std::uint32_t what, std::string_view name);

    // A link may lead to a folder; the system does not tell.
    [[nodiscard]] static bool is_link(const std::string& folder, std::string_view name);

    // Sleeping --------------------------------------------------------------------------------------------------------

    [[nodiscard]] bool take_interrupt() noexcept;

    void sleep(clock::time_point until);

    posix::descriptor events_;
    posix::descriptor bell_;
    std::string root_;
    std::vector<std::pair<std::string, std::string>> above_;  // from "/" or ".": a folder above the root, what leads on
    std::vector<target> targets_;
    std::map<int, interest> watched_;  // by the system's number
    std::optional<std::vector<std::string>> changed_keys_;
    clock::time_point watched_at_{};
    bool partial_ = false;   // not all folders are watched
    bool outdated_ = false;  // folders have come or gone since they were last watched
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/storage/posix/impl/watch.ipp>
#endif
