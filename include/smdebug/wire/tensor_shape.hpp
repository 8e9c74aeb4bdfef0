// TensorFlow's TensorShapeProto: the extents of a tensor, with the names that the Python package gives them.
// One message a header, decode and encode side by side.
//
//   TensorShapeProto { repeated Dim dim = 2 { int64 size = 1; string name = 2; }  bool unknown_rank = 3; }
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/field_writer.hpp>
#include <smdebug/wire/varint.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

/// A shape to write.  Each dimension is named "<dim_name>_<extent>", which is what the Python package writes with the
/// tensor's name for `dim_name`; with an empty `dim_name` dimensions have no names.
/// Borrows: both members.
struct tensor_shape {
    std::span<const std::size_t> extents;
    std::string_view dim_name;
};

namespace detail {

inline constexpr field_number shape_dim = 2;
inline constexpr field_number shape_unknown_rank = 3;
inline constexpr field_number dim_size = 1;
inline constexpr field_number dim_name = 2;

/// Takes a dimension from the front of a shape where it is as nearly all are: a Dim of less than 128 bytes that has a size
/// of at most 28 bits and a name, or none, in this order, and nothing else.  False: it is another; all is as it was.
[[nodiscard]] constexpr bool take_usual_dim(byte_view& shape, std::size_t& extent) noexcept {
    constexpr std::byte begin{tag{shape_dim, wire_type::length_delimited}.code()};
    constexpr std::byte size{tag{dim_size, wire_type::varint}.code()};
    constexpr std::byte name{tag{dim_name, wire_type::length_delimited}.code()};
    constexpr std::byte more{0x80};
    if (shape.size() < 4 || shape[0] != begin || shape[1] >= more || shape[2] != size) {
        return false;
    }
    const std::size_t end = 2 + static_cast<std::size_t>(shape[1]);
    std::size_t at = 3;
    std::size_t written = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        if (at >= end || at >= shape.size()) {
            return false;
        }
        written |= (static_cast<std::size_t>(shape[at]) & 0x7fU) << shift;
        if (shape[at++] < more) {
            const bool has_name = at + 2 <= end && end <= shape.size() && shape[at] == name && shape[at + 1] < more &&
                                  static_cast<std::size_t>(shape[at + 1]) == end - at - 2;
            if (!has_name && (at != end || end > shape.size())) {
                return false;
            }
            extent = written;
            shape = shape.subspan(end);
            return true;
        }
    }
    return false;
}

/// The extent in one Dim; 0 where the field is absent, as everywhere in proto3.
[[nodiscard]] constexpr status decode_dim(byte_view message, std::size_t& extent) noexcept {
    std::int64_t size = 0;
    field_reader reader{message};
    for (field f; reader.next(f);) {
        if (f.is(dim_size, wire_type::varint)) {
            size = f.as_int64();
        }
    }
    extent = size < 0 ? 0 : static_cast<std::size_t>(size);
    return size < 0 && reader.code() == status::ok ? status::malformed : reader.code();
}

/// Appends the extents in a shape, or in what is left of one.
[[nodiscard, gnu::noinline]] inline status append_dims(byte_view message, shape_type& extents) {
    bool unknown_rank = false;
    field_reader reader{message};
    for (field f; reader.next(f);) {
        if (f.is(shape_dim, wire_type::length_delimited)) {
            std::size_t extent = 0;
            if (const status read = decode_dim(f.bytes, extent); read != status::ok) {
                return read;
            }
            extents.push_back(extent);
        } else if (f.is(shape_unknown_rank, wire_type::varint)) {
            unknown_rank = f.as_bool();
        }
    }
    return unknown_rank && reader.code() == status::ok ? status::malformed : reader.code();
}

[[nodiscard]] inline std::string dim_text(std::string_view name, std::size_t extent) {
    return std::string{name} + '_' + std::to_string(extent);
}

[[nodiscard]] constexpr std::size_t decimal_size(std::size_t value) noexcept {
    std::size_t digits = 1;
    for (; value >= 10; value /= 10) {
        ++digits;
    }
    return digits;
}

[[nodiscard]] constexpr std::size_t encoded_dim_size(std::string_view name, std::size_t extent) noexcept {
    return (extent == 0 ? 0 : varint_field_size(dim_size, extent)) +
           (name.empty() ? 0 : delimited_field_size(dim_name, name.size() + 1 + decimal_size(extent)));
}

}  // namespace detail

/// Reads the extents of a TensorShapeProto; `extents` is replaced and keeps its capacity.
/// Errors: those of field_reader; malformed for a negative extent and for an unknown rank, since a tensor that was
/// saved had a shape.  `extents` is then unspecified.
/// Always a part of its caller: a scalar's shape is empty, and a call would be all it costs.
[[nodiscard, gnu::always_inline]] inline status decode_tensor_shape(byte_view message, shape_type& extents) {
    extents.clear();
    for (std::size_t extent = 0; detail::take_usual_dim(message, extent);) {
        extents.push_back(extent);
    }
    return message.empty() ? status::ok : detail::append_dims(message, extents);
}

/// Bytes of `shape` as a message.
[[nodiscard]] constexpr std::size_t encoded_size(const tensor_shape& shape) noexcept {
    std::size_t size = 0;
    for (const std::size_t extent : shape.extents) {
        size += delimited_field_size(detail::shape_dim, detail::encoded_dim_size(shape.dim_name, extent));
    }
    return size;
}

/// Appends `shape` as a message; an extent of 0 is left out, being the default.
inline void encode(field_writer& writer, const tensor_shape& shape) {
    for (const std::size_t extent : shape.extents) {
        writer.begin_message(detail::shape_dim, detail::encoded_dim_size(shape.dim_name, extent));
        if (extent != 0) {
            writer.write_varint(detail::dim_size, extent);
        }
        if (!shape.dim_name.empty()) {
            writer.write_text(detail::dim_name, detail::dim_text(shape.dim_name, extent));
        }
    }
}

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
