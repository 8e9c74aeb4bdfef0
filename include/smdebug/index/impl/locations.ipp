// The bodies of <smdebug/index/locations.hpp>.
#pragma once

#include <smdebug/index/locations.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {
namespace detail::locations {

SMDEBUG_INLINE std::string worker_from_file_part(std::string_view part) {
    std::string worker{part};
    if (part.starts_with('_') && part.find("_replica-") != std::string_view::npos) {
        std::replace(worker.begin(), worker.end(), '_', '/');
        std::replace(worker.begin(), worker.end(), '-', ':');
    }
    return worker;
}

SMDEBUG_INLINE std::string file_part_from_worker(std::string_view worker) {
    std::string part{worker};
    if (worker.starts_with('/') && worker.find("/replica:") != std::string_view::npos) {
        std::replace(part.begin(), part.end(), '/', '_');
        std::replace(part.begin(), part.end(), ':', '-');
    }
    return part;
}

SMDEBUG_INLINE std::optional<std::string> worker_of_collections_file(std::string_view key) {
    constexpr std::string_view suffix = "_collections.json";
    const std::string_view name = base_name(key);
    if (name == suffix.substr(1) && stays_inside(key)) {
        return "worker_0";
    }
    if (!name.ends_with(suffix) || name.size() == suffix.size() || !stays_inside(key) || is_resource_fork(key)) {
        return std::nullopt;
    }
    return worker_from_file_part(name.substr(0, name.size() - suffix.size()));
}

SMDEBUG_INLINE std::string zero_padded(step_number number, std::size_t width) {
    char digits[24] = {};
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    const std::string_view text{digits, static_cast<std::size_t>(end - digits)};
    return std::string(width > text.size() ? width - text.size() : 0, '0').append(text);
}

SMDEBUG_INLINE std::string step_file_name(step_number step, std::string_view worker, std::string_view extension) {
    std::string name = zero_padded(step, 12);
    name.reserve(room_for_key);  // a hook makes two at each step
    name.append("_").append(file_part_from_worker(worker)).append(extension);
    return name;
}

SMDEBUG_INLINE std::string index_key(step_number step, std::string_view worker) {
    std::string key{index_folder};
    key.reserve(room_for_key);
    key.append(zero_padded(step / steps_per_index_folder, 9)).append("/").append(step_file_name(step, worker, ".json"));
    return key;
}

SMDEBUG_INLINE std::string event_key(step_number step, std::string_view worker) {
    std::string key{events_folder};
    key.reserve(room_for_key);
    key.append(zero_padded(step, 12)).append("/").append(step_file_name(step, worker, event_extension));
    return key;
}

SMDEBUG_INLINE std::string collections_key(std::string_view worker) {
    return std::string{collections_folder} + zero_padded(0, 9) + "/" + file_part_from_worker(worker) +
           "_collections.json";
}

}  // namespace detail::locations
}  // namespace smdebug::inline v1
