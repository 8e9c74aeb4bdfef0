// Runs and archives below a folder of this machine, one at a time.
#pragma once

#include <smdebug/batch/search/folder_names.hpp>
#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/batch/search/seen_paths.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Runs below a folder, archives, and folders that cannot be read, in byte order of their paths.  Behind them come folders with
/// logs or checkpoints, each the highest one without a run below it, and of a log's modes ("train") the one above them; none where
/// the whole folder is one.  A run is not gone into; hidden folders are.  Links to folders come behind all others, and are not followed where the folder was seen, or is one in
/// which the walk's own lies: circles end, and "latest" is not one run more.
/// Memory: the names in the folders on the way, and some 10 to 20 bytes for each folder.
/// Cost: a listing of each folder, of a run that of its root.
class folder_walk {
public:
    /// A relative path is one below the folder that the process is in when it is walked.
    explicit folder_walk(std::string root) : root_(std::move(root)) {}

    /// The next one; nothing behind the last.  Where the folder itself is a run, that one alone.
    [[nodiscard]] std::optional<found_place> next();
    /// Behind the last: files beside what was found that are no part of it.
    [[nodiscard]] const left_out_files& left_out() const noexcept { return left_out_; }

private:
    struct others_in {
        left_out_files files;
        bool has_data = false;
    };
    struct level {
        std::string path;
        std::vector<folder_names::child> children;
        std::size_t next = 0;
        // Those that are no runs, by name and '/': the paths in them come behind those that are less than that.
        std::map<std::string, std::vector<folder_names::child>> waiting = {};
    };

    // A run, an error, or nothing: its names are in `children` then.
    [[nodiscard]] std::optional<found_place> look(const std::string& path, std::vector<folder_names::child>& children);
    // The same of what stands next in a level.
    [[nodiscard]] std::optional<found_place> take_next(level& of);
    [[nodiscard]] std::optional<found_place> take_root();
    [[nodiscard]] std::optional<found_place> take_link();
    [[nodiscard]] std::optional<found_place> next_below();
    [[nodiscard]] std::string folder_above(const std::string& path) const;
    // Of folders with logs or checkpoints, behind all others.
    void find_data();
    bool see(const posix::folder_identity& folder);
    void see_those_above();

    std::string root_;
    enum class phase { root, folders, links, data } phase_ = phase::root;
    std::vector<level> levels_ = {};
    std::map<std::string, posix::folder_identity> links_ = {};
    seen_paths seen_ = {};
    bool has_found_ = false;
    std::set<std::string> above_ = {};              // folders with a run below them
    std::map<std::string, others_in> others_ = {};  // by folder
    std::set<std::string> data_ = {};
    left_out_files left_out_ = {};
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/folder_walk.ipp>
#endif
