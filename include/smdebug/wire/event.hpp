// TensorFlow's Event: the message in every record of an event file.
// The outermost of the messages; its summary stays bytes until somebody asks.
//
//   Event { double wall_time = 1; int64 step = 2; one of: string file_version = 3, Summary summary = 5, others; }
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/field_writer.hpp>
#include <smdebug/wire/summary.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

/// An Event, looked at once.  A field that occurs twice counts as the last one does; summaries are not merged.
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
    std::int64_t step = 0;  ///< left out where 0, as protobuf does
    std::string_view file_version;
    std::span<const value_fields> values;  ///< the summary; left out where there are none
};

namespace detail {

/// Appends the fields that every event begins with, unless they are 0, as protobuf does; -0.0 is not.
inline void encode_head(field_writer& writer, double wall_time, std::int64_t step) {
    if (std::bit_cast<std::uint64_t>(wall_time) != 0) {
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
    if (std::bit_cast<std::uint64_t>(written.wall_time) != 0) {
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

/// Appends `written` as a message.  What the Python package writes for the same tensor, byte for byte.
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

/// The same as the payload of a record, in one allocation.
[[nodiscard]] inline std::vector<std::byte> to_bytes(const event_fields& written) {
    std::vector<std::byte> bytes;
    bytes.reserve(encoded_size(written));
    field_writer writer{bytes};
    encode(writer, written);
    return bytes;
}

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
