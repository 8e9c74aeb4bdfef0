// Where a run keeps its files: names of folders, index, event and collections files, and worker names in them.
// Source: the layout that the Python package writes.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/core/step.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {
namespace detail::locations {

inline constexpr std::string_view index_folder = "index/";
inline constexpr std::string_view events_folder = "events/";
inline constexpr std::string_view collections_folder = "collections/";
inline constexpr std::string_view event_extension = ".tfevents";
inline constexpr std::string_view end_of_job = "training_job_end.ts";  ///< the mark of a job that has ended
inline constexpr step_number steps_per_index_folder = 1000;

/// What follows the last '/'.
[[nodiscard]] constexpr std::string_view base_name(std::string_view key) noexcept {
    return key.substr(key.rfind('/') + 1);  // npos + 1 is 0
}

/// A worker's name from its form in file names.  TensorFlow's device names contain characters that file names cannot: a
/// leading '_' together with "_replica-" marks one, written with '_' for '/' and '-' for ':'.
[[nodiscard]] std::string worker_from_file_part(std::string_view part);

/// The reverse: a worker's name as written in file names.
[[nodiscard]] std::string file_part_from_worker(std::string_view worker);

/// The parts of the name of an index or event file.
struct step_file {
    step_number step = 0;
    std::string_view worker_part;  ///< borrowed; worker_from_file_part turns it into the name
};

/// Parses "<digits>_<worker>.<extension>"; nothing if the base name does not have that form.
[[nodiscard]] constexpr std::optional<step_file> parse_step_file(std::string_view key,
                                                                 std::string_view extension) noexcept {
    std::string_view name = base_name(key);
    if (!name.ends_with(extension)) {
        return std::nullopt;
    }
    name.remove_suffix(extension.size());
    step_file parsed;
    std::size_t digits = 0;
    for (; digits < name.size() && name[digits] >= '0' && name[digits] <= '9'; ++digits) {
        const step_number digit = name[digits] - '0';
        if (parsed.step > (INT64_MAX - digit) / 10) {
            return std::nullopt;
        }
        parsed.step = parsed.step * 10 + digit;
    }
    // The largest number is not a step either: a walk over steps must be able to compute the next one.
    if (digits == 0 || digits + 1 >= name.size() || name[digits] != '_' || parsed.step == INT64_MAX) {
        return std::nullopt;
    }
    parsed.worker_part = name.substr(digits + 1);
    return parsed;
}

/// Whether a key below index/ is an index file: a .json or .csv file, but not a resource fork, nor a key that leads out
/// of the run.
[[nodiscard]] constexpr bool is_index_file(std::string_view key) noexcept {
    return (key.ends_with(".json") || key.ends_with(".csv")) && stays_inside(key) && !is_resource_fork(key);
}

/// The parts of an index file's name; nothing if it is damaged.
[[nodiscard]] constexpr std::optional<step_file> parse_index_key(std::string_view key) noexcept {
    return parse_step_file(key, key.ends_with(".csv") ? ".csv" : ".json");
}

/// The worker of "<worker>_collections.json"; "worker_0" for "collections.json"; nothing for any other file.
[[nodiscard]] std::optional<std::string> worker_of_collections_file(std::string_view key);

/// A number with leading zeros, at least `width` wide.
[[nodiscard]] std::string zero_padded(step_number number, std::size_t width);

inline constexpr std::size_t room_for_key = 64;  ///< enough for most keys

/// "000000012345_worker_0.json": what parse_step_file parses.
[[nodiscard]] std::string step_file_name(step_number step, std::string_view worker, std::string_view extension);

/// "index/000000012/000000012345_worker_0.json"
[[nodiscard]] std::string index_key(step_number step, std::string_view worker);

/// "events/000000012345/000000012345_worker_0.tfevents"
[[nodiscard]] std::string event_key(step_number step, std::string_view worker);

/// "collections/000000000/worker_0_collections.json"
[[nodiscard]] std::string collections_key(std::string_view worker);

}  // namespace detail::locations

/// Whether a key is that of an event file or an index file, of a run or of one of several.  These never change while a
/// run is written, so caches may keep them; collections files and the mark of the job's end do.
[[nodiscard]] constexpr bool is_written_once(std::string_view key) noexcept {
    const bool is_below_index =
        key.starts_with(detail::locations::index_folder) || key.find("/index/") != std::string_view::npos;
    return key.ends_with(detail::locations::event_extension) ||
           (is_below_index && (key.ends_with(".json") || key.ends_with(".csv")));
}

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/index/impl/locations.ipp>
#endif
