// The bodies of <smdebug/formats/tensorboard/log_files.hpp>.
#pragma once

#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/index/locations.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace smdebug {
inline namespace v1 {

SMDEBUG_INLINE bool is_tensorboard_log(std::string_view key) noexcept {
    namespace locations = detail::locations;
    const std::string_view name = locations::base_name(key);
    if (name.find("tfevents") == std::string_view::npos || name.ends_with(".profile-empty") || is_resource_fork(key)) {
        return false;
    }
    // Logs of the Python package have the names of its runs' event files, but lie in folders of modes, not of steps.
    const std::string_view place = key.substr(0, key.size() - std::min(key.size(), name.size() + 1));
    const std::string_view folder = locations::base_name(place);
    const bool is_of_a_step = !folder.empty() && folder.find_first_not_of("0123456789") == std::string_view::npos;
    return !is_of_a_step || !locations::parse_step_file(name, locations::event_extension);
}

SMDEBUG_INLINE std::string_view run_folder_of(std::string_view key) noexcept {
    const auto above = [](std::string_view path) {
        const std::size_t slash = path.rfind('/');
        return path.substr(0, slash == std::string_view::npos ? 0 : slash);
    };
    const std::string_view folder = above(key);
    return detail::mode_of_folder(detail::locations::base_name(folder)) ? above(folder) : folder;
}

SMDEBUG_INLINE std::vector<std::string> log_folders(const any_storage& store) {
    std::set<std::string> folders;
    for (const std::string& key : store.list("", "")) {
        if (is_tensorboard_log(key)) {
            folders.emplace(run_folder_of(key));
        }
    }
    return {folders.begin(), folders.end()};
}

namespace detail {

/// A name of a folder that stands for a mode.  In capital letters: those of the Python package, and of this library's hook.
struct known_mode_folder {
    std::string_view name;
    mode stands_for;
    bool is_prefix = false;
};
inline constexpr std::array<known_mode_folder, 12> mode_folders{{{"train", mode::train},
                                                                 {"training", mode::train},
                                                                 {"TRAIN", mode::train},
                                                                 {"validation", mode::eval},
                                                                 {"valid", mode::eval},
                                                                 {"val", mode::eval},
                                                                 {"eval", mode::eval},
                                                                 {"EVAL", mode::eval},
                                                                 {"eval_", mode::eval, true},
                                                                 {"test", mode::eval},
                                                                 {"predict", mode::predict},
                                                                 {"PREDICT", mode::predict}}};

SMDEBUG_INLINE int rank_of_folder(std::string_view name) noexcept {
    const auto found = std::find_if(mode_folders.begin(), mode_folders.end(), [&](const known_mode_folder& one) {
        return one.is_prefix ? name.starts_with(one.name) : name == one.name;
    });
    return found == mode_folders.end() ? 0 : static_cast<int>(found - mode_folders.begin()) + 1;
}

SMDEBUG_INLINE std::optional<mode> mode_of_folder(std::string_view name) noexcept {
    const int rank = rank_of_folder(name);
    return rank == 0 ? std::nullopt : std::optional{mode_folders[static_cast<std::size_t>(rank) - 1].stands_for};
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
