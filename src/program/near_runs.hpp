// Suggestions for a path without a run: runs below it, the run that contains it, a folder with a similar name.
#pragma once

#include <smdebug/core/error.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace smdebug::inline v1::cli::detail {

/// At most so many entries of folders are checked, as it is only for a message.
inline constexpr std::size_t most_looked_at = 4096;

/// Whether a folder looks like a run.
[[nodiscard]] bool looks_like_run(const std::filesystem::path& folder);

/// The folders in a folder, sorted; `left`: how many entries may still be looked at.
[[nodiscard]] std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder, std::size_t& left);

/// Whether a path names an archive, or something in one.
[[nodiscard]] bool names_archive(const std::string& path);

/// What to add to the error that there is no run at `path`: a sentence that begins with a blank, or nothing.  Searches
/// local folders only, as elsewhere a search costs requests; for a prefix it names the command that searches.
/// `may_come`: a run may still start there, so folders with similar names are not suggested.
/// Cost: at most 4,096 entries in two levels of folders.
[[nodiscard]] std::string run_hint(const std::string& path, bool may_come = false);

/// What to add to the error `missing`; empty if S3 has reported something else as missing, such as the bucket.
[[nodiscard]] std::string run_hint(const not_found& missing, const std::string& path);

}  // namespace smdebug::inline v1::cli::detail
