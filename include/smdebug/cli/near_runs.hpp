// What a user may have meant by a path where there is no run: runs below it, the run that it is a part of, a folder of
// nearly that name.
#pragma once

#include <smdebug/cli/text.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/near_names.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace cli {
namespace detail {

/// At most so many entries of folders are looked at: it is only for a message.
inline constexpr std::size_t most_looked_at = 4096;

/// Whether a folder looks like a run.
[[nodiscard]] inline bool looks_like_run(const std::filesystem::path& folder) {
    std::error_code none;
    const bool events = std::filesystem::is_directory(folder / "events", none);
    const bool index = std::filesystem::is_directory(folder / "index", none);
    return (events && index) || ((events || index) && std::filesystem::is_directory(folder / "collections", none));
}

/// The folders in a folder, sorted; `left`: how many entries may still be looked at.
[[nodiscard]] inline std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder,
                                                                   std::size_t& left) {
    std::vector<std::filesystem::path> folders;
    std::error_code failed;
    std::filesystem::directory_iterator entry{folder, failed};
    for (; !failed && entry != std::filesystem::directory_iterator{} && left > 0; entry.increment(failed), --left) {
        if (std::error_code none; entry->is_directory(none)) {
            folders.push_back(entry->path());
        }
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

/// "There are 500 runs below it; to name them all write runs/*", or nothing.
[[nodiscard]] inline std::string runs_below(const std::string& path) {
    std::size_t left = most_looked_at;
    std::vector<std::filesystem::path> folders = folders_in(path, left);
    std::string pattern = path.ends_with('/') ? path + "*" : path + "/*";
    for (int level = 0; level < 2; ++level, pattern += "/*") {
        std::vector<std::filesystem::path> runs;
        std::vector<std::filesystem::path> below;
        for (const std::filesystem::path& folder : folders) {
            if (looks_like_run(folder)) {
                runs.push_back(folder);
            } else if (level == 0) {
                for (std::filesystem::path& each : folders_in(folder, left)) {
                    below.push_back(std::move(each));
                }
            }
        }
        if (runs.size() == 1) {
            return " There is a run below it: " + runs.front().string();
        }
        if (!runs.empty()) {
            return std::string{" There are "} + (left == 0 ? "at least " : "") + counted(runs.size(), "run") +
                   " below it; to name them all write " + pattern;
        }
        folders = std::move(below);
    }
    return {};
}

/// "It is a part of the run runs/a", or nothing.
[[nodiscard]] inline std::string run_above(const std::string& path) {
    std::filesystem::path above{path};
    for (int level = 0; level < 3 && above.has_parent_path() && above.parent_path() != above; ++level) {
        above = above.parent_path();
        if (looks_like_run(above)) {
            return " It is a part of the run " + above.string();
        }
    }
    return {};
}

/// "Did you mean runs/resnet?", or nothing.
[[nodiscard]] inline std::string near_folders(const std::string& path) {
    const std::filesystem::path missing{path};
    const bool bare = !missing.has_parent_path();
    std::size_t left = most_looked_at;
    std::vector<std::string> names;
    for (const std::filesystem::path& each : folders_in(bare ? "." : missing.parent_path(), left)) {
        names.push_back(each.filename().string());
    }
    std::vector<std::string> near = near_matches(missing.filename().string(), names, 3);
    if (!bare) {
        for (std::string& name : near) {
            name = (missing.parent_path() / name).string();
        }
    }
    return did_you_mean(near);
}

/// Whether a path is an archive's by its name, or something in one.
[[nodiscard]] inline bool names_archive(const std::string& path) {
    const auto archived = smdebug::detail::archive_in(path);
    return archived && (archived->is_named_so || !archived->inside.empty());
}

/// What to add to the error that there is no run at `path`: a sentence that begins with a blank, or nothing.  Looks at
/// folders of this machine only, as elsewhere looking costs requests; of a prefix it names what looks.
/// `may_come`: a run may yet start there, so folders of nearly that name are another matter.
/// Cost: a look at 4,096 entries of two levels of folders at most.
[[nodiscard]] inline std::string run_hint(const std::string& path, bool may_come = false) {
    if (names_archive(path)) {
        return {};
    }
    if (smdebug::detail::is_in_s3(path)) {
        return may_come ? "" : " Runs below it are found by scan, and by --list";
    }
    const std::string here = smdebug::detail::local_path(path);
    std::error_code none;
    if (std::filesystem::is_directory(here, none)) {
        const std::string below = detail::runs_below(here);
        return below.empty() ? detail::run_above(here) : below;
    }
    if (may_come) {
        return {};
    }
    return std::filesystem::exists(here, none) ? detail::run_above(here) : detail::near_folders(here);
}

/// The same for the error `missing`: nothing where S3 has told that something else is missing, such as the bucket.
[[nodiscard]] inline std::string run_hint(const not_found& missing, const std::string& path) {
    const bool no_run = std::string_view{missing.message()}.starts_with("there is no training run");
    return smdebug::detail::is_in_s3(path) && !no_run ? std::string{} : run_hint(path);
}

}  // namespace detail
}  // namespace cli
}  // namespace v1
}  // namespace smdebug
