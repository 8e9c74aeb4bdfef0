// What a user may have meant by a path where there is no run: runs below it, the run that it is a part of, a folder of
// nearly that name.
#pragma once

#include <smdebug/core/error.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// At most so many entries of folders are looked at: it is only for a message.
inline constexpr std::size_t most_looked_at = 4096;

/// Whether a folder looks like a run.
[[nodiscard]] bool looks_like_run(const std::filesystem::path& folder);

/// The folders in a folder, sorted; `left`: how many entries may still be looked at.
[[nodiscard]] std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder, std::size_t& left);

/// Whether a path is an archive's by its name, or something in one.
[[nodiscard]] bool names_archive(const std::string& path);

/// What to add to the error that there is no run at `path`: a sentence that begins with a blank, or nothing.  Looks at
/// folders of this machine only, as elsewhere looking costs requests; of a prefix it names what looks.
/// `may_come`: a run may yet start there, so folders of nearly that name are another matter.
/// Cost: a look at 4,096 entries of two levels of folders at most.
[[nodiscard]] std::string run_hint(const std::string& path, bool may_come = false);

/// The same for the error `missing`: nothing where S3 has told that something else is missing, such as the bucket.
[[nodiscard]] std::string run_hint(const not_found& missing, const std::string& path);

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
