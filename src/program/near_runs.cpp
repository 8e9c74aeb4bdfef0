#include <program/near_runs.hpp>

#include <program/text.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

namespace smdebug::inline v1::cli::detail {

bool looks_like_run(const std::filesystem::path& folder) {
    std::error_code none;
    const bool events = std::filesystem::is_directory(folder / "events", none);
    const bool index = std::filesystem::is_directory(folder / "index", none);
    return (events && index) || ((events || index) && std::filesystem::is_directory(folder / "collections", none));
}

std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder, std::size_t& left) {
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

namespace {

// "There are 500 runs below it; to name them all write runs/*", or nothing.
std::string runs_below(const std::string& path) {
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

// "It is a part of the run runs/a", or nothing.
std::string run_above(const std::string& path) {
    std::filesystem::path above{path};
    for (int level = 0; level < 3 && above.has_parent_path() && above.parent_path() != above; ++level) {
        above = above.parent_path();
        if (looks_like_run(above)) {
            return " It is a part of the run " + above.string();
        }
    }
    return {};
}

// "Did you mean runs/resnet?", or nothing.
std::string near_folders(const std::string& path) {
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

}  // namespace

bool names_archive(const std::string& path) {
    const auto archived = smdebug::detail::archive_in(path);
    return archived && (archived->is_named_so || !archived->inside.empty());
}

std::string run_hint(const std::string& path, bool may_come) {
    if (names_archive(path)) {
        return {};
    }
    const bool far = smdebug::detail::is_in_s3(path);
    std::error_code none;
    if (const auto form = smdebug::detail::other_form_of(path);
        form && (far || std::filesystem::is_regular_file(smdebug::detail::local_path(path), none))) {
        return " It is " + std::string{form->what} + ": convert it in Python by " + std::string{form->how};
    }
    if (far) {
        return may_come ? "" : " Runs below it are found by scan, and by --list";
    }
    const std::string here = smdebug::detail::local_path(path);
    if (std::filesystem::is_directory(here, none)) {
        const std::string below = detail::runs_below(here);
        return below.empty() ? detail::run_above(here) : below;
    }
    if (may_come) {
        return {};
    }
    return std::filesystem::exists(here, none) ? detail::run_above(here) : detail::near_folders(here);
}

std::string run_hint(const not_found& missing, const std::string& path) {
    const bool no_run = missing.code() == error_code::no_training_run;
    return smdebug::detail::is_in_s3(path) && !no_run ? std::string{} : run_hint(path);
}

}  // namespace smdebug::inline v1::cli::detail
