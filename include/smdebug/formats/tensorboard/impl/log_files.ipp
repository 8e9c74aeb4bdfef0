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
    for (const std::string& key : store.list({}, {})) {
        if (is_tensorboard_log(key)) {
            folders.emplace(run_folder_of(key));
        }
    }
    return {folders.begin(), folders.end()};
}

namespace detail {

SMDEBUG_INLINE std::optional<mode> mode_of_folder(std::string_view name) noexcept {
    // In capital letters: those of the Python package, and of this library's hook.
    constexpr std::array<std::string_view, 6> evaluations{"validation", "valid", "val", "eval", "test", "EVAL"};
    if (name == "train" || name == "training" || name == "TRAIN") {
        return mode::train;
    }
    if (std::find(evaluations.begin(), evaluations.end(), name) != evaluations.end() || name.starts_with("eval_")) {
        return mode::eval;
    }
    if (name == "predict" || name == "PREDICT") {
        return mode::predict;
    }
    return std::nullopt;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
