// The bodies of <smdebug/formats/tensorboard/log_files.hpp>.
#pragma once

#include <smdebug/formats/tensorboard/log_files.hpp>
#include <smdebug/index/locations.hpp>
#include <smdebug/wire/field.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace smdebug::inline v1 {

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

/// The name of a folder that stands for a mode.  Upper-case names are those of the Python package, and of this
/// library's hook.
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

SMDEBUG_INLINE bool read_scalar_event(byte_view message, scalar_event& out) noexcept {
    // wall_time = 1, step = 2, summary = 5 { value = 1 { tag = 1, simple_value = 2 } }
    constexpr std::size_t head = 1 + sizeof(double);
    constexpr std::ptrdiff_t tag_head = 6;  // the tags and one-byte lengths of summary, value and tag
    constexpr std::ptrdiff_t number_size = 1 + sizeof(float);
    if (message.size() <= head || message[0] != std::byte{0x09}) {
        return false;
    }
    const std::byte* at = message.data() + head;
    const std::byte* const end = message.data() + message.size();
    std::uint64_t step = 0;
    if (*at == std::byte{0x10}) {
        for (unsigned shift = 0;; shift += 7) {
            if (++at == end || shift > 56) {
                return false;
            }
            step |= std::to_integer<std::uint64_t>(*at & std::byte{0x7f}) << shift;
            if (*at < std::byte{0x80}) {
                ++at;
                break;
            }
        }
    }
    const std::ptrdiff_t rest = end - at;
    if (rest < tag_head + number_size || rest - 2 >= 0x80 || step >= static_cast<std::uint64_t>(INT64_MAX) ||
        at[0] != std::byte{0x2a} || at[1] != static_cast<std::byte>(rest - 2) || at[2] != std::byte{0x0a} ||
        at[3] != static_cast<std::byte>(rest - 4) || at[4] != std::byte{0x0a} ||
        at[5] != static_cast<std::byte>(rest - tag_head - number_size) || end[-number_size] != std::byte{0x15}) {
        return false;
    }
    out.wall_time = load_le<double>(message.data() + 1);
    out.step = static_cast<std::int64_t>(step);
    out.tag = as_text({at + tag_head, static_cast<std::size_t>(rest - tag_head - number_size)});
    out.number = load_le<float>(end - sizeof(float));
    return true;
}

SMDEBUG_INLINE log_value_kind kind_by_plugin(std::string_view plugin) noexcept {
    constexpr std::array<std::string_view, 6> opaque{
        "images", "audio", "hparams", "graphs", "graph_run_metadata", "custom_scalars"};
    if (plugin == "scalars") {
        return log_value_kind::scalar;
    }
    if (plugin == "histograms") {
        return log_value_kind::histogram_tensor;
    }
    if (plugin == "text") {
        return log_value_kind::text;
    }
    return std::find(opaque.begin(), opaque.end(), plugin) != opaque.end() ? log_value_kind::opaque
                                                                           : log_value_kind::tensor;
}

/// Reads the field of metadata that names a plugin.
[[nodiscard]] inline std::string_view plugin_of(byte_view metadata) noexcept {
    wire::field_reader reader{metadata};
    for (wire::field f; reader.next(f);) {
        if (f.is(1, wire::wire_type::length_delimited)) {
            wire::field_reader plugin{f.bytes};
            for (wire::field inner; plugin.next(inner);) {
                if (inner.is(1, wire::wire_type::length_delimited)) {
                    return inner.as_text();
                }
            }
        }
    }
    return {};
}

[[nodiscard]] inline status read_log_value(byte_view message, log_value& out) {
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        if (f.is(1, wire::wire_type::length_delimited)) {
            out.tag = f.as_text();
        } else if (f.is(2, wire::wire_type::fixed32)) {
            out.kind = log_value_kind::scalar;
            out.number = f.as_float();
        } else if (f.is(4, wire::wire_type::length_delimited) || f.is(6, wire::wire_type::length_delimited)) {
            out.message = f.bytes;
        } else if (f.is(5, wire::wire_type::length_delimited)) {
            out.kind = log_value_kind::histogram;
            out.message = f.bytes;
        } else if (f.is(8, wire::wire_type::length_delimited)) {
            out.kind = log_value_kind::tensor;
            out.message = f.bytes;
        } else if (f.is(9, wire::wire_type::length_delimited)) {
            out.plugin = plugin_of(f.bytes);
        }
    }
    return reader.code();
}

SMDEBUG_INLINE status read_log_event(byte_view message, log_event& out) {
    out.wall_time = 0;
    out.step = 0;
    out.is_start = false;
    out.values.clear();
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        if (f.is(1, wire::wire_type::fixed64)) {
            out.wall_time = f.as_double();
        } else if (f.is(2, wire::wire_type::varint)) {
            out.step = f.as_int64();
        } else if (f.is(7, wire::wire_type::length_delimited)) {
            wire::field_reader session{f.bytes};
            for (wire::field inner; session.next(inner);) {
                out.is_start = inner.is(1, wire::wire_type::varint) ? inner.as_uint64() == 1 : out.is_start;
            }
        } else if (f.is(5, wire::wire_type::length_delimited)) {
            wire::field_reader summary{f.bytes};
            for (wire::field value; summary.next(value);) {
                if (value.is(1, wire::wire_type::length_delimited)) {
                    const status read = read_log_value(value.bytes, out.values.emplace_back());
                    if (read != status::ok) {
                        return read;
                    }
                }
            }
            if (summary.code() != status::ok) {
                return summary.code();
            }
        }
    }
    return reader.code();
}

}  // namespace detail
}  // namespace smdebug::inline v1
