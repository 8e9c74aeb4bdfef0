// Finds the runs that users mean by paths, addresses, patterns, folders of runs and archives, one at a time.
// Uses names only, except for archives, whose directories it reads; it does not open runs.
#pragma once

#include <smdebug/batch/run_result.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// Finds runs, in the order of the lines.  A line stands for
///  - a run: itself; so does a path where nothing exists, as opening it will report that;
///  - another folder, or a prefix in S3: all runs and archives below, at any depth, in byte order; if a folder of this
///    machine contains any, those with logs or checkpoints, too.  Folders inside a run are not searched, links to
///    folders are followed unless that leads to a folder twice, other files are skipped, and left_out() counts those
///    that may be missed;
///  - an archive: each run in it, "jobs.tar!/job-17"; "jobs.tar!/job-17": that one;
///  - a pattern: each folder and archive that it matches, treated like a line of its own.  * ? [ab] [!a-z] {a,b} match
///    within a name, except a '.' at its beginning, ** matches folders at any depth, a backslash escapes the next
///    character; a path that exists literally is not a pattern.  Also for addresses in S3 after the bucket, and in
///    archives: "s3://bucket/all/*.tar!/job-?".
/// A run that two lines lead to is returned once: paths are compared without "./", "//" and trailing slashes.
///
/// A place that cannot be searched is returned as an error in its position, and the search continues: an unreadable
/// folder, a damaged archive (after its runs that can be listed), a pattern that matches nothing, a line that is not a
/// path.
///
/// Memory:  10 to 15 bytes a run, twice that in folders; the names in the folders on the current path, or a page of
///          keys; the runs of one archive.
/// Cost:    a folder of this machine: a listing of each folder, for a run only of its root.  S3: a request for 1,000
///          keys, one for each larger run, regardless of its size; a request for each line, and one more for a pattern.
///          An archive: opening it, see archive_storage; it is returned open, so that it is opened once.
/// Threads: one at a time.
class run_finder {
public:
    /// Returns the next line; nothing after the last.  An exception is an error of that line, after which the next one
    /// is requested: run_list is such a source.
    using line_source = std::function<std::optional<std::string>()>;

    struct settings {
        /// How storages are opened; runs in archives are returned open.
        storage_options storage = {};
        /// If false, an archive is returned unopened: another run_finder, for its path alone, finds the runs in it.
        bool open_archives = true;
        /// Opens a folder or a place in S3, to list keys or read an archive in it.  If empty, open_storage() does.
        std::function<any_storage(std::string_view)> open_place = {};
    };

    /// A run, or a place that could not be searched: `run.error` then says why, as what() does.
    struct found {
        batch_run run = {};                     ///< place and path; run_version_at() gives its version
        std::optional<any_storage> store = {};  ///< of a run in an archive, which is already open
        bool is_damage = false;  ///< the error: parts of the archive are damaged; its listable runs were returned
    };

    explicit run_finder(line_source lines);
    run_finder(line_source lines, settings how);
    run_finder(std::vector<std::string> lines, settings how);
    run_finder(run_finder&&) noexcept;
    run_finder& operator=(run_finder&&) noexcept;
    ~run_finder();

    /// The next run; nothing after the last.  Places count from 0, errors included.
    /// Errors: exceptions of the source that are not errors of this library.
    [[nodiscard]] std::optional<found> next();

    /// Files that resemble archives, logs or checkpoints and belong to no found run: their number, by the ends of their
    /// names.  These are logs and checkpoints below a prefix in S3, and archives without a run below a folder.
    [[nodiscard]] const std::map<std::string, std::size_t, std::less<>>& left_out() const noexcept;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// A list of runs: a path or an address a line, as run_finder accepts it.  Lines that are empty or begin with '#' are
/// skipped; blanks at both ends of a line are ignored, and so are the carriage return of a CRLF and a byte order mark.
/// Borrows the stream.      Memory: one line.      Threads: one at a time.
class run_list {
public:
    /// A longer line is not a path.
    static constexpr std::size_t most_line_bytes = std::size_t{64} << 10U;

    /// `name` stands for the list in errors.
    explicit run_list(std::istream& from, std::string name = "the list");

    /// The next path; nothing after the last one.
    /// Errors: value_error, with the line's number, for a line that is too long or not a text (it has a byte 0): the
    ///         next call continues after it; unavailable if the stream cannot be read further: the list ends there.
    [[nodiscard]] std::optional<std::string> next();

    /// The number of the line that next() read last, from 1; 0 if it read none yet.
    [[nodiscard]] std::uint64_t line() const noexcept { return line_; }

private:
    // Reads a line, at most most_bytes of it and a byte; false at the end.
    [[nodiscard]] bool read_line(std::string& text);
    [[nodiscard]] std::string place() const { return "line " + std::to_string(line_) + " of " + name_; }

    std::istream* from_;
    std::string name_;
    std::uint64_t line_ = 0;
};

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/find_runs.ipp>
#endif
