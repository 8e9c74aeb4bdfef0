// Folders and archives of this machine that a pattern of paths matches, one at a time.
#pragma once

#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Folders, and files that are archives by their names, that a pattern matches, in byte order of their paths; also folders
/// on the way that cannot be read.  What lies below one that it gives is not looked at: that is another search.
/// Links to folders are followed, but not by **.
/// Memory: the names in the folders on the way.      Cost: a listing of each folder in which more than one name may match.
class pattern_walk {
public:
    /// `root`: the folder in which the pattern begins.
    pattern_walk(std::string root, path_pattern pattern) : root_(std::move(root)), pattern_(std::move(pattern)) {}

    /// The next one; nothing behind the last.
    [[nodiscard]] std::optional<found_place> next();
    /// Behind the last: files that match, and that are no archives.
    [[nodiscard]] const left_out_files& left_out() const noexcept { return left_out_; }

private:
    // A name from which on something may be matched.
    struct step {
        std::string name;
        bool is_folder = false;
        path_pattern::progress reached;
    };
    struct level {
        std::string path;
        std::vector<step> steps;  // in the order of the paths that come of them
        std::size_t next = 0;
    };

    void add_step(std::vector<step>& steps, const path_pattern::progress& before, const step& candidate,
                  bool is_link) const;
    [[nodiscard]] std::vector<step> steps_in(const std::string& path, const path_pattern::progress& reached);
    // An error, or nothing: there is one more level then.
    [[nodiscard]] std::optional<found_place> enter(std::string path, const path_pattern::progress& reached);

    std::string root_;
    path_pattern pattern_;
    bool begun_ = false;
    std::vector<level> levels_ = {};
    left_out_files left_out_ = {};
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/pattern_walk.ipp>
#endif
