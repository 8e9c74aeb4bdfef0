// Three walks that find runs and archives, one at a time: below a folder of this machine, by a pattern of paths, and
// among the keys of a storage.
#pragma once

#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/posix/folder.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

struct folder_names {
    struct child {
        std::string name;
        bool is_folder = false;
        std::optional<posix::folder_identity> target = {};  ///< of a link to a folder
    };
    std::vector<child> children = {};  ///< folders, and files named like archives; sorted.  Empty for a run
    std::optional<posix::folder_identity> self = {};
    left_out_files others = {};  ///< empty for a run
    bool has_data = false;       ///< there is a log or a checkpoint among them
    /// It has two of collections, events and index, or one that contains a group of steps; or the mark of a job that
    /// has ended, and nothing else that could be one.
    bool is_run = false;
};

/// Nothing if there is no such folder.  Errors: access_denied, unavailable.
/// Cost: a listing of it, and of "index" or the like if that is the only sign of a run.
[[nodiscard]] std::optional<folder_names> names_in(const std::string& folder);

/// Whether there is a folder of that name, or an entry that may be one and cannot be opened.
[[nodiscard]] bool may_be_folder(const std::string& path) noexcept;

/// Whether there is a file of that name.
[[nodiscard]] bool is_regular_file(const std::string& path) noexcept;

/// The entry of one file that entries() of a storage in `folder` would return, without listing the folder; nothing if
/// the file does not exist.
/// Errors: access_denied, unavailable.
[[nodiscard]] std::optional<object_entry> file_entry_of(const std::string& folder, const std::string& name);

/// Runs below a folder, archives, and unreadable folders, in byte order of their paths.  After them come folders with
/// logs or checkpoints, each the highest one without a run below it, and for a log's modes ("train") their parent; none
/// if the whole folder is one.  Folders inside a run are not searched; hidden folders are.  Links to folders come after
/// all others, and are not followed if they lead to a folder that was seen or that contains the walk's own: this ends
/// circles, and "latest" is not a second run.
/// Memory: the names in the folders on the current path, and some 10 to 20 bytes for each folder.
/// Cost: a listing of each folder, for a run of its root only.
class folder_walk {
public:
    /// A relative path refers to the working directory at the time of the walk.
    explicit folder_walk(std::string root) : root_(std::move(root)) {}

    /// The next place; nothing after the last.  If the folder itself is a run, only that one.
    [[nodiscard]] std::optional<found_place> next();
    /// After the last one: files that belong to no found place.
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
        // The other children, by name and '/': the paths in them follow all smaller ones.
        std::map<std::string, std::vector<folder_names::child>> waiting = {};
    };

    // A run or an error; or nothing, and its names are then in `children`.
    [[nodiscard]] std::optional<found_place> look(const std::string& path, std::vector<folder_names::child>& children);
    // Looks at the next child in a level, and returns what look() does.
    [[nodiscard]] std::optional<found_place> take_next(level& of);
    [[nodiscard]] std::optional<found_place> take_root();
    [[nodiscard]] std::optional<found_place> take_link();
    [[nodiscard]] std::optional<found_place> next_below();
    [[nodiscard]] std::string folder_above(const std::string& path) const;
    // The next folder with logs or checkpoints, after all other places.
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

/// Folders, and files named like archives, that match a pattern, in byte order of their paths; also unreadable folders
/// on the way.  Folders inside a match are not searched: that is another search.
/// Links to folders are followed, but not by **.
/// Memory: the names in the folders on the current path.      Cost: a listing of each folder in which more than one
///         name may match.
class pattern_walk {
public:
    /// `root`: the folder in which the pattern begins.
    pattern_walk(std::string root, path_pattern pattern) : root_(std::move(root)), pattern_(std::move(pattern)) {}

    /// The next place; nothing after the last.
    [[nodiscard]] std::optional<found_place> next();
    /// After the last one: files that match, and that are not archives.
    [[nodiscard]] const left_out_files& left_out() const noexcept { return left_out_; }

private:
    // A name that begins a possible match.
    struct step {
        std::string name;
        bool is_folder = false;
        path_pattern::progress reached;
    };
    struct level {
        std::string path;
        std::vector<step> steps;  // in the order of the resulting paths
        std::size_t next = 0;
    };

    void add_step(std::vector<step>& steps, const path_pattern::progress& before, const step& candidate,
                  bool is_link) const;
    [[nodiscard]] std::vector<step> steps_in(const std::string& path, const path_pattern::progress& reached);
    // An error; or nothing, and one more level was then added.
    [[nodiscard]] std::optional<found_place> enter(std::string path, const path_pattern::progress& reached);

    std::string root_;
    path_pattern pattern_;
    bool begun_ = false;
    std::vector<level> levels_ = {};
    left_out_files left_out_ = {};
};

/// Runs and archives among the keys of a bucket, which has no folders, in the order of the keys: "a-b/..." comes before
/// "a/...".  Once a key shows a run, the listing continues after all of its keys; a run inside a run is returned, too, if
/// its keys come first.
/// Memory: a page of keys, and the folders that have logs or checkpoints.
/// Cost: a listing of 1,000 keys for each 1,000 keys outside runs or in small ones, and one for each larger run; up to
///       four of a few keys if the root is a run.  If the storage cannot list in pages (it has no entries()), one full
///       listing.
/// Errors: those of the storage; the walk then ends.
class key_walk {
public:
    struct where {
        std::string root = {};    ///< a folder of the storage: empty, or with '/' at its end
        std::string prefix = {};  ///< of the relevant paths in it
    };
    /// The path of a found place: paths that the pattern covers.
    key_walk(any_storage store, where place, path_pattern pattern = {});

    /// The next place, with its path in the root: "" for the root itself.  Nothing after the last.
    [[nodiscard]] std::optional<found_place> next();
    /// Files so far that the pattern covers and that belong to no found place.
    [[nodiscard]] left_out_files left_out() const;

private:
    static constexpr std::size_t fewest_keys = 8;
    static constexpr std::size_t most_keys = 1000;
    static constexpr std::size_t most_short_pages = 15;  // before runs are tested for having become smaller

    // Whether the root is a run, whatever other keys come first there.
    [[nodiscard]] bool root_is_run() const;
    // False after the last page.
    [[nodiscard]] bool read_page();
    [[nodiscard]] std::optional<found_place> take(const std::string& key);

    any_storage store_;
    where place_;
    path_pattern pattern_;
    std::vector<object_entry> page_ = {};
    std::size_t next_ = 0;
    std::size_t most_ = fewest_keys;
    std::size_t short_pages_ = 0;  // how many more are read
    std::size_t places_on_page_ = 0;
    std::optional<std::string> passing_ = {};  // the common prefix of the keys of the last returned run
    std::string last_ = "/";                   // the same; no prefix of a key before the first run
    bool is_last_ = false;
    bool begun_ = false;
    std::map<std::string, left_out_files> others_ = {};  // by folder, with '/' at its end
};

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/folder_walk.ipp>
#endif
