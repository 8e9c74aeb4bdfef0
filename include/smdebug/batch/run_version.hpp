// Whether a run has changed since it was looked at: a text made of its files' names, sizes and versions, without reading any.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/storage/open_storage.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// What a listing says of a run.
struct run_files {
    std::string version = {};  ///< 32 hexadecimal digits; another one whenever a file came, went or was written
    std::uint64_t bytes = 0;   ///< of all its files, or of the archive that it is in
    std::size_t files = 0;
    friend bool operator==(const run_files&, const run_files&) = default;
};

/// Of the run in a storage; nothing where it has none of a run's files: those in collections/, events/ and index/, .json files
/// at its root, and the mark of the job's end.  Others, caches say, do not count.
/// Versions are those of entries(): on this machine size, inode and times, in S3 ETags; else sizes, and times as far as the
/// storage tells them.  Of a file that was written a moment ago each call may give another one, so two that are equal are of
/// the same bytes.
/// Cost: one listing of all that lies below the root; of a storage without entries() that, and a size() and a modified()
///       for each file.       Memory: a part of the listing, at most 65,536 files.
/// Errors: those of the storage.
template <storage S>
[[nodiscard]] std::optional<run_files> run_version(const S& store);

/// The same of a path as create_trial() takes it.  Of a run in an archive: of the archive's own file and the path in it, which
/// costs one look at it, and opens nothing.
/// Errors: those of open_storage() for what is no path or cannot be reached.
[[nodiscard]] std::optional<run_files> run_version_at(std::string_view path, const storage_options& options = {});

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/batch/impl/run_version.ipp>
#endif

#include <smdebug/batch/impl/run_version.tpp>
