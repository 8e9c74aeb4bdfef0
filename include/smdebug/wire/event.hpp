// TensorFlow's Event: the message in every record of an event file.
// The outermost of the messages; its summary is parsed lazily.
//
//   Event { double wall_time = 1; int64 step = 2; one of: string file_version = 3, Summary summary = 5, others; }
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

// TensorFlow's Summary and its values: the name of a tensor, the tensor, and what the Python package adds to it.
// Nested messages are parsed lazily: a reader that looks for one name skips the rest.
//
//   Summary { repeated Value value = 1 { string tag = 1; SummaryMetadata metadata = 9; string node_name = 7;
//             one of: float simple_value = 2, TensorProto tensor = 8, histograms 3 and 5, image 4, audio 6; } }
//   metadata as the Python package writes it: repeated plugin_data = 1 { string plugin_name = 1; bytes content = 2; },
//   "mode_step" with the step in decimal and "mode" with "1" (TRAIN) to "4" (GLOBAL).
namespace smdebug::inline v1::detail::wire {

/// The kind of a value.
enum class value_kind : std::uint8_t { none, simple_value, tensor, other };

/// A parsed value of a summary.
/// Borrows: everything points into the message.
struct summary_value {
    std::string_view tag;
    std::string_view node_name;
    value_kind kind = value_kind::none;
    float simple_value = 0;  ///< if kind is simple_value
    byte_view tensor;        ///< if kind is tensor: the TensorProto
    byte_view metadata;
};

/// An entry of a value's metadata.
struct plugin_data {
    std::string_view name;
    std::string_view content;
};

namespace detail {

inline constexpr field_number summary_value_field = 1;
inline constexpr field_number value_tag = 1;
inline constexpr field_number value_simple = 2;
inline constexpr field_number value_node_name = 7;
inline constexpr field_number value_tensor = 8;
inline constexpr field_number value_metadata = 9;
inline constexpr field_number metadata_plugin = 1;
inline constexpr field_number plugin_name = 1;
inline constexpr field_number plugin_content = 2;

[[nodiscard]] constexpr bool is_other_kind(const field& f) noexcept {
    return f.type == wire_type::length_delimited && f.number >= 3 && f.number <= 6;
}

[[nodiscard]] constexpr std::size_t encoded_size(const plugin_data& plugin) noexcept {
    return delimited_field_size(plugin_name, plugin.name.size()) +
           delimited_field_size(plugin_content, plugin.content.size());
}

[[nodiscard]] constexpr std::size_t encoded_size(std::span<const plugin_data> plugins) noexcept {
    std::size_t size = 0;
    for (const plugin_data& plugin : plugins) {
        size += delimited_field_size(metadata_plugin, encoded_size(plugin));
    }
    return size;
}

}  // namespace detail

/// Parses one value.  If it has several alternatives, the last one counts, as in protobuf.      Errors: as
/// field_reader.
[[nodiscard]] inline result<summary_value> decode_summary_value(byte_view message) noexcept {
    summary_value value;
    field_reader reader{message};
    for (field f; reader.next(f);) {
        if (f.is(detail::value_tag, wire_type::length_delimited)) {
            value.tag = f.as_text();
        } else if (f.is(detail::value_simple, wire_type::fixed32)) {
            value.kind = value_kind::simple_value;
            value.simple_value = f.as_float();
        } else if (f.is(detail::value_tensor, wire_type::length_delimited)) {
            value.kind = value_kind::tensor;
            value.tensor = f.bytes;
        } else if (f.is(detail::value_metadata, wire_type::length_delimited)) {
            value.metadata = f.bytes;
        } else if (f.is(detail::value_node_name, wire_type::length_delimited)) {
            value.node_name = f.as_text();
        } else if (detail::is_other_kind(f)) {
            value.kind = value_kind::other;
        }
    }
    if (reader.code() != status::ok) {
        return reader.code();
    }
    return value;
}

/// Iterates over the values of a summary; used like field_reader.
/// Borrows: the summary.
class summary_reader {
public:
    explicit summary_reader(byte_view summary) noexcept : fields_(summary) {}

    /// Reads one value into `out`; false at the end, or on an error, see code().
    [[nodiscard]] bool next(summary_value& out) noexcept {
        for (field f; code_ == status::ok && fields_.next(f);) {
            if (!f.is(detail::summary_value_field, wire_type::length_delimited)) {
                continue;
            }
            const result<summary_value> value = decode_summary_value(f.bytes);
            if (value.ok()) {
                out = *value;
                return true;
            }
            code_ = value.code();
        }
        return false;
    }

    [[nodiscard]] status code() const noexcept { return code_ != status::ok ? code_ : fields_.code(); }

private:
    field_reader fields_;
    status code_ = status::ok;
};

/// The content of the entry `name` of a value's metadata; empty if there is none, or the metadata is damaged.
[[nodiscard]] inline std::optional<std::string_view> find_plugin(byte_view metadata, std::string_view name) noexcept {
    field_reader entries{metadata};
    for (field entry; entries.next(entry);) {
        if (!entry.is(detail::metadata_plugin, wire_type::length_delimited)) {
            continue;
        }
        plugin_data plugin;
        field_reader reader{entry.bytes};
        for (field f; reader.next(f);) {
            if (f.is(detail::plugin_name, wire_type::length_delimited)) {
                plugin.name = f.as_text();
            } else if (f.is(detail::plugin_content, wire_type::length_delimited)) {
                plugin.content = f.as_text();
            }
        }
        if (reader.code() == status::ok && plugin.name == name) {
            return plugin.content;
        }
    }
    return std::nullopt;
}

/// A value to write.
/// Borrows: every member.
struct value_fields {
    std::string_view tag;
    tensor_fields tensor;
    std::span<const plugin_data> plugins;  ///< the metadata; left out if empty
};

/// Bytes of `value` as a message.
[[nodiscard]] constexpr std::size_t encoded_size(const value_fields& value) noexcept {
    std::size_t size = delimited_field_size(detail::value_tag, value.tag.size()) +
                       delimited_field_size(detail::value_tensor, encoded_size(value.tensor));
    if (!value.plugins.empty()) {
        size += delimited_field_size(detail::value_metadata, detail::encoded_size(value.plugins));
    }
    return size;
}

/// Appends `value` as a message.
inline void encode(field_writer& writer, const value_fields& value) {
    writer.write_text(detail::value_tag, value.tag);
    writer.begin_message(detail::value_tensor, encoded_size(value.tensor));
    encode(writer, value.tensor);
    if (value.plugins.empty()) {
        return;
    }
    writer.begin_message(detail::value_metadata, detail::encoded_size(value.plugins));
    for (const plugin_data& plugin : value.plugins) {
        writer.begin_message(detail::metadata_plugin, detail::encoded_size(plugin));
        writer.write_text(detail::plugin_name, plugin.name);
        writer.write_text(detail::plugin_content, plugin.content);
    }
}

/// Bytes of a summary of these values as a message.
[[nodiscard]] constexpr std::size_t encoded_size(std::span<const value_fields> summary) noexcept {
    std::size_t size = 0;
    for (const value_fields& value : summary) {
        size += delimited_field_size(detail::summary_value_field, encoded_size(value));
    }
    return size;
}

/// Appends a summary of these values as a message.
inline void encode(field_writer& writer, std::span<const value_fields> summary) {
    for (const value_fields& value : summary) {
        writer.begin_message(detail::summary_value_field, encoded_size(value));
        encode(writer, value);
    }
}

/// A parsed Event.  If a field occurs twice, the last one counts; summaries are not merged.
/// Borrows: everything points into the message.
struct event {
    double wall_time = 0;  ///< seconds since 1970
    std::int64_t step = 0;
    std::string_view file_version;
    std::optional<byte_view> summary;
};

namespace detail {
inline constexpr field_number event_wall_time = 1;
inline constexpr field_number event_step = 2;
inline constexpr field_number event_file_version = 3;
inline constexpr field_number event_summary = 5;
}  // namespace detail

/// Errors: those of field_reader.
[[nodiscard]] inline result<event> decode_event(byte_view message) noexcept {
    event decoded;
    field_reader reader{message};
    for (field f; reader.next(f);) {
        if (f.is(detail::event_wall_time, wire_type::fixed64)) {
            decoded.wall_time = f.as_double();
        } else if (f.is(detail::event_step, wire_type::varint)) {
            decoded.step = f.as_int64();
        } else if (f.is(detail::event_file_version, wire_type::length_delimited)) {
            decoded.file_version = f.as_text();
        } else if (f.is(detail::event_summary, wire_type::length_delimited)) {
            decoded.summary = f.bytes;
        }
    }
    if (reader.code() != status::ok) {
        return reader.code();
    }
    return decoded;
}

/// An Event to write: a file's version, or values.
/// Borrows: `file_version` and `values`.
struct event_fields {
    double wall_time = 0;
    std::int64_t step = 0;  ///< left out if 0, as in protobuf
    std::string_view file_version;
    std::span<const value_fields> values;  ///< the summary; left out if empty
};

namespace detail {

/// Whether protobuf leaves out a field of that value, which has no set bit; -0.0 has one.
[[nodiscard]] constexpr bool is_default(double value) noexcept { return std::bit_cast<std::uint64_t>(value) == 0; }

/// Appends the fields common to all events.
inline void encode_head(field_writer& writer, double wall_time, std::int64_t step) {
    if (!is_default(wall_time)) {
        writer.write_double(event_wall_time, wall_time);
    }
    if (step != 0) {
        writer.write_int(event_step, step);
    }
}

}  // namespace detail

/// Bytes of `written` as a message.
[[nodiscard]] constexpr std::size_t encoded_size(const event_fields& written) noexcept {
    std::size_t size = 0;
    if (!detail::is_default(written.wall_time)) {
        size += fixed64_field_size(detail::event_wall_time);
    }
    if (written.step != 0) {
        size += varint_field_size(detail::event_step, static_cast<std::uint64_t>(written.step));
    }
    if (!written.file_version.empty()) {
        size += delimited_field_size(detail::event_file_version, written.file_version.size());
    }
    if (!written.values.empty()) {
        size += delimited_field_size(detail::event_summary, encoded_size(written.values));
    }
    return size;
}

/// Appends `written` as a message: what the Python package writes for the same tensor, byte for byte.
inline void encode(field_writer& writer, const event_fields& written) {
    detail::encode_head(writer, written.wall_time, written.step);
    if (!written.file_version.empty()) {
        writer.write_text(detail::event_file_version, written.file_version);
    }
    if (!written.values.empty()) {
        writer.begin_message(detail::event_summary, encoded_size(written.values));
        encode(writer, written.values);
    }
}

/// The message as the payload of a record, in one allocation.
[[nodiscard]] inline std::vector<std::byte> to_bytes(const event_fields& written) {
    std::vector<std::byte> bytes;
    bytes.reserve(encoded_size(written));
    field_writer writer{bytes};
    encode(writer, written);
    return bytes;
}

}  // namespace smdebug::inline v1::detail::wire
