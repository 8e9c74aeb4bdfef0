// From what people write - paths, addresses, patterns, folders of runs, archives - to runs, one at a time.
// It looks at names only, but for archives, whose directories it reads: opening a run is the job of who scans it.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Finds runs, in the order of the lines.  A line stands for
///  - a run: itself, and so does a path where nothing is, as opening it will tell;
///  - a folder that is none, or a prefix in S3: all runs and archives below, however deep, in byte order, and where there are any
///    of a folder of this machine those with logs or checkpoints, too.  A run is not gone into, links to folders are followed where
///    that leads to no folder twice, other files are passed over, and left_out() counts those that may be missed;
///  - an archive: each run in it, "jobs.tar!/job-17"; "jobs.tar!/job-17": that one;
///  - a pattern: each folder and archive that it matches, taken as if it were written.  * ? [ab] [!a-z] {a,b} match within a
///    name, not a '.' at its beginning, ** folders at any depth, a backslash takes a meaning away; a path that is there as it
///    is written is no pattern.  Also for addresses in S3 behind the bucket, and in archives: "s3://bucket/all/*.tar!/job-?".
/// The same run reached by two lines is given once: by its path without "./", "//" and slashes at its end.
///
/// What cannot be searched is given as an error in its place, and stops nothing: a folder that cannot be read, a damaged
/// archive (behind the runs of it that can be listed), a pattern that matches nothing, a line that is no path.
///
/// Memory:  9 to 19 bytes a run, twice that in folders; the names in the folders on the way, or a page of keys; the runs of
///          one archive.
/// Cost:    a folder of this machine: a listing of each, of a run's root only.  S3: a request for 1,000 keys, one for a run of
///          more, however many it has; a request for a line; one more for a pattern.  An archive: opening it, see
///          archive_storage; who is given it opened does not open it again.
/// Threads: one at a time.
class run_finder {
public:
    /// Gives the next line; nothing behind the last.  What it throws is an error of that line; the next one is asked for
    /// then: run_list is such a source.
    using line_source = std::function<std::optional<std::string>()>;

    struct settings {
        /// How storages are opened; those of archives' runs are given so.
        storage_options storage = {};
        /// Else an archive is given as it is, unopened: another run_finder, of its path alone, tells the runs in it.
        bool open_archives = true;
        /// Opens a folder or a place in S3, to list keys or read an archive in it.  Empty: as open_storage() does.
        std::function<any_storage(std::string_view)> open_place = {};
    };

    /// A run, or a place that could not be searched: `run.error` then tells why, as what() does.
    struct found {
        batch_run run = {};                     ///< place and path; its version is told by run_version_at()
        std::optional<any_storage> store = {};  ///< of a run in an archive: open already
        bool is_damage = false;  ///< the error: parts of the archive are damaged; what can be listed of it was given
    };

    explicit run_finder(line_source lines);
    run_finder(line_source lines, settings how);
    run_finder(std::vector<std::string> lines, settings how);
    run_finder(run_finder&&) noexcept;
    run_finder& operator=(run_finder&&) noexcept;
    ~run_finder();

    /// The next one; nothing behind the last.  Places count from 0, errors as well.
    /// Errors: what the source throws that is no error of this library.
    [[nodiscard]] std::optional<found> next();

    /// Files beside what was found that are no part of it, though they look like archives, logs or checkpoints: how many, by the
    /// ends of their names.  Logs and checkpoints below a prefix in S3 are counted so, and archives below a folder that have no run.
    [[nodiscard]] const std::map<std::string, std::size_t, std::less<>>& left_out() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/find_runs.ipp>
#endif
