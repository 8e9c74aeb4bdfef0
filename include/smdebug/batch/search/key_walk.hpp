// Runs and archives among the keys of a storage: in a bucket there are no folders to look at, only keys in byte order.
#pragma once

#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/batch/search/name_pattern.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/concepts.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Runs and archives among keys, in the order of the keys: "a-b/..." comes before "a/...".  Once a key shows a run, the
/// listing goes on behind all of its keys; of a run in a run the inner one is given, too, where its keys come first.
/// Memory: a page of keys, and the folders that have logs or checkpoints.
/// Cost: a listing of 1,000 keys for as many as are in no run or in small ones, one for each run of more; up to four of a few
///       keys where the root is a run.  Where the storage lists without bound only (it has no entries()), all of it, once.
/// Errors: those of the storage; the walk is at its end then.
class key_walk {
public:
    struct where {
        std::string root = {};    ///< a folder of the storage: empty, or with '/' at its end
        std::string prefix = {};  ///< with which the paths in it begin that matter
    };
    /// Of what lies there: paths that the pattern covers.
    key_walk(any_storage store, where place, path_pattern pattern = {});

    /// The next one, with its path in the root: "" for the root itself.  Nothing behind the last.
    [[nodiscard]] std::optional<found_place> next();
    /// Files, up to there, that the pattern covers and that are no part of what was found.
    [[nodiscard]] left_out_files left_out() const;

private:
    static constexpr std::size_t fewest_keys = 8;
    static constexpr std::size_t most_keys = 1000;
    static constexpr std::size_t most_short_pages = 15;  // until it is seen whether runs have become smaller

    // Whether the root is a run, whatever other keys come first there.
    [[nodiscard]] bool root_is_run() const;
    // False behind the last page.
    [[nodiscard]] bool read_page();
    [[nodiscard]] std::optional<found_place> take(const std::string& key);

    any_storage store_;
    where place_;
    path_pattern pattern_;
    std::vector<object_entry> page_ = {};
    std::size_t next_ = 0;
    std::size_t most_ = fewest_keys;
    std::size_t short_pages_ = 0;  // so many more
    std::size_t places_on_page_ = 0;
    std::optional<std::string> passing_ = {};  // what the keys of the run start with that was given last
    bool is_last_ = false;
    bool begun_ = false;
    std::map<std::string, left_out_files> others_ = {};  // by folder, with '/' at its end
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/search/impl/key_walk.ipp>
#endif
