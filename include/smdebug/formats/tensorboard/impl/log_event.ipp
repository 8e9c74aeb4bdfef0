// The bodies of <smdebug/formats/tensorboard/log_event.hpp>.
#pragma once

#include <smdebug/formats/tensorboard/log_event.hpp>
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/varint.hpp>

#include <algorithm>
#include <array>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE bool read_scalar_event(byte_view message, scalar_event& out) noexcept {
    // wall_time = 1, step = 2, summary = 5 { value = 1 { tag = 1, simple_value = 2 } }
    constexpr std::size_t head = 1 + sizeof(double);
    constexpr std::size_t number_size = 1 + sizeof(float);
    if (message.size() < head || message[0] != std::byte{0x09}) {
        return false;
    }
    byte_view rest = message.subspan(head);
    const auto enter = [&](std::byte field) {
        std::uint64_t length = 0;
        if (rest.empty() || rest[0] != field) {
            return false;
        }
        rest = rest.subspan(1);
        return wire::take_varint(rest, length) == status::ok && length == rest.size();
    };
    std::uint64_t step = 0;
    if (!rest.empty() && rest[0] == std::byte{0x10}) {
        rest = rest.subspan(1);
        if (wire::take_varint(rest, step) != status::ok) {
            return false;
        }
    }
    if (!enter(std::byte{0x2a}) || !enter(std::byte{0x0a}) || rest.size() < 2 + number_size ||
        rest[0] != std::byte{0x0a} || static_cast<std::size_t>(rest[1]) != rest.size() - 2 - number_size ||
        rest[rest.size() - number_size] != std::byte{0x15} || rest[1] >= std::byte{0x80} ||
        step >= static_cast<std::uint64_t>(INT64_MAX)) {
        return false;
    }
    out.wall_time = load_le<double>(message.data() + 1);
    out.step = static_cast<std::int64_t>(step);
    out.tag = as_text(rest.subspan(2, rest.size() - 2 - number_size));
    out.number = load_le<float>(rest.data() + rest.size() - sizeof(float));
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
}  // namespace v1
}  // namespace smdebug
