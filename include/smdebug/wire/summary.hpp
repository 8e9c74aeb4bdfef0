// TensorFlow's Summary and its values: the name of a tensor, the tensor, and what the Python package adds to it.
// Nested messages stay bytes until somebody asks: a reader that looks for one name skips the rest.
//
//   Summary { repeated Value value = 1 { string tag = 1; SummaryMetadata metadata = 9; string node_name = 7;
//             one of: float simple_value = 2, TensorProto tensor = 8, histograms 3 and 5, image 4, audio 6; } }
//   metadata as the Python package writes it: repeated plugin_data = 1 { string plugin_name = 1; bytes content = 2; },
//   "mode_step" with the step in decimal and "mode" with "1" (TRAIN) to "4" (GLOBAL).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/field_writer.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

/// Which of the alternatives a value holds.
enum class value_kind : std::uint8_t { none, simple_value, tensor, other };

/// One value of a summary, looked at once.
/// Borrows: everything points into the message.
struct summary_value {
    std::string_view tag;
    std::string_view node_name;
    value_kind kind = value_kind::none;
    float simple_value = 0;  ///< where kind is simple_value
    byte_view tensor;        ///< where kind is tensor: the TensorProto
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

/// One value.  Of several alternatives the last one counts, as in protobuf.      Errors: those of field_reader.
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

/// Walks the values of a summary; used like field_reader.
/// Borrows: the summary.
class summary_reader {
public:
    explicit summary_reader(byte_view summary) noexcept : fields_(summary) {}

    /// Reads one value into `out`; false at the end, or where code() says what is wrong.
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

/// The content of the entry `name` of a value's metadata; empty where there is none, or the metadata is damaged.
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
    std::span<const plugin_data> plugins;  ///< the metadata; left out where there are none
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

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
