// The bodies of <smdebug/batch/search/folder_names.hpp>.
#pragma once

#include <smdebug/batch/search/folder_names.hpp>
#include <smdebug/batch/search/found_place.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/relative_path.hpp>
#include <smdebug/storage/posix/file.hpp>
#include <smdebug/storage/uri.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

[[nodiscard]] inline bool has_step_group(const std::string& folder) {
    bool has = false;
    if (auto reader = posix::folder_reader::open_if_there(posix::working_folder, folder, folder)) {
        reader->each([&](const posix::folder_entry& entry) {
            using kind = posix::folder_entry::kind;
            has = has || ((entry.what == kind::folder || entry.what == kind::link) && is_step_group(entry.name));
        });
    }
    return has;
}

SMDEBUG_INLINE std::optional<folder_names> names_in(const std::string& folder) {
    auto reader = posix::folder_reader::open_if_there(posix::working_folder, folder, folder);
    if (!reader) {
        return std::nullopt;
    }
    folder_names names{.self = reader->identity()};
    std::string part;
    std::size_t parts = 0;
    reader->each([&](const posix::folder_entry& entry) {
        using kind = posix::folder_entry::kind;
        const bool is_link = entry.what == kind::link;
        const bool is_folder = is_link || entry.what == kind::folder;
        if (is_folder && is_run_part(entry.name)) {
            part = entry.name;
            ++parts;
        }
        if (is_folder ||
            (entry.what == kind::file && !archive_extension_of(entry.name).empty() && !is_resource_fork(entry.name))) {
            names.children.push_back(
                {std::string{entry.name}, is_folder, is_link ? std::optional{entry.target} : std::nullopt});
        } else if (entry.what == kind::file) {
            const std::string path = path_below(folder, entry.name);
            if (const std::string_view ending = counted_ending_of(path); !ending.empty()) {
                ++names.others[std::string{ending}];
                names.has_data = names.has_data || is_tensorboard_log(path) || is_data_file(entry.name);
            }
        }
    });
    names.is_run = parts > 1 || (parts == 1 && has_step_group(path_below(folder, part)));
    if (names.is_run) {
        names.children.clear();
        names.others.clear();
    }
    std::sort(names.children.begin(), names.children.end(),
              [](const auto& one, const auto& other) { return one.name < other.name; });
    return names;
}

SMDEBUG_INLINE bool may_be_folder(const std::string& path) noexcept {
    try {
        return posix::directory_handle::open(path).has_value();
    } catch (const error&) {
        return true;
    }
}

SMDEBUG_INLINE bool is_regular_file(const std::string& path) noexcept {
    try {
        return posix::regular_file_facts(path).has_value();
    } catch (const error&) {
        return false;
    }
}

SMDEBUG_INLINE std::optional<object_entry> file_entry_of(const std::string& folder, const std::string& name) {
    std::optional<posix::file_facts> facts = posix::facts_of(path_below(folder, name));
    if (!facts) {
        return std::nullopt;
    }
    return object_entry{.key = name, .size = facts->size, .version = std::move(facts->version)};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
