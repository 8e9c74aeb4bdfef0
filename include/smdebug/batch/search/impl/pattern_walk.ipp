// The bodies of <smdebug/batch/search/pattern_walk.hpp>.
#pragma once

#include <smdebug/batch/search/folder_names.hpp>
#include <smdebug/batch/search/pattern_walk.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/storage/posix/folder.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<found_place> pattern_walk::next() {
    if (!begun_) {
        begun_ = true;
        const path_pattern::progress start = pattern_.begin();
        if (pattern_.is_end(start)) {
            return may_be_folder(root_) ? std::optional{found_place{.what = found_place::kind::folder, .path = root_}}
                                        : std::nullopt;
        }
        if (auto failed = enter(root_, start)) {
            return failed;
        }
    }
    while (!levels_.empty()) {
        level& top = levels_.back();
        if (top.next == top.steps.size()) {
            levels_.pop_back();
            continue;
        }
        const step one = std::move(top.steps[top.next++]);
        std::string path = path_below(top.path, one.name);
        if (pattern_.is_end(one.reached)) {
            return found_place{.what = one.is_folder ? found_place::kind::folder : found_place::kind::archive,
                               .path = std::move(path)};
        }
        if (auto failed = enter(std::move(path), one.reached)) {
            return failed;
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE std::optional<found_place> pattern_walk::enter(std::string path, const path_pattern::progress& reached) {
    try {
        std::vector<step> steps = steps_in(path, reached);
        if (!steps.empty()) {
            levels_.push_back({.path = std::move(path), .steps = std::move(steps)});
        }
        return std::nullopt;
    } catch (const error& failed) {
        return found_place{.what = found_place::kind::error, .path = path, .error = failed.what()};
    }
}

SMDEBUG_INLINE void pattern_walk::add_step(std::vector<step>& steps, const path_pattern::progress& before,
                                           const step& candidate, bool is_link) const {
    path_pattern::progress reached = pattern_.after(before, candidate.name, is_link);
    if (candidate.is_folder ? pattern_.goes_on(reached) : pattern_.is_end(reached)) {
        steps.push_back({candidate.name, candidate.is_folder, std::move(reached)});
    }
}

SMDEBUG_INLINE std::vector<pattern_walk::step> pattern_walk::steps_in(const std::string& path,
                                                                      const path_pattern::progress& reached) {
    std::vector<step> steps;
    if (const std::string& name = pattern_.only_name(reached); !name.empty()) {
        const std::string below = path_below(path, name);
        if (may_be_folder(below)) {
            add_step(steps, reached, {name, true, {}}, false);
        } else if (!archive_extension_of(name).empty() && is_regular_file(below)) {
            add_step(steps, reached, {name, false, {}}, false);
        }
        return steps;
    }
    if (auto reader = posix::folder_reader::open_if_there(posix::working_folder, path, path)) {
        reader->each([&](const posix::folder_entry& entry) {
            using kind = posix::folder_entry::kind;
            const bool is_link = entry.what == kind::link;
            const bool is_folder = is_link || entry.what == kind::folder;
            if (is_folder || (entry.what == kind::file && !archive_extension_of(entry.name).empty() &&
                              !is_resource_fork(entry.name))) {
                add_step(steps, reached, {std::string{entry.name}, is_folder, {}}, is_link);
            } else if (entry.what == kind::file) {
                const std::string below = path_below(path, entry.name);
                if (const std::string_view ending = counted_ending_of(below);
                    !ending.empty() && pattern_.is_end(pattern_.after(reached, entry.name))) {
                    ++left_out_[std::string{ending}];
                }
            }
        });
    }
    // What is gone into has paths that go on with '/'.
    const auto order = [&](const step& one) { return pattern_.is_end(one.reached) ? one.name : one.name + "/"; };
    std::sort(steps.begin(), steps.end(),
              [&](const step& one, const step& other) { return order(one) < order(other); });
    return steps;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
