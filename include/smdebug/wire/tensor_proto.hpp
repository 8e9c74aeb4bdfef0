// TensorFlow's TensorProto: dtype, shape and elements of one tensor.
// Elements stay encoded: content as bytes, lists as the message that contains them, for tensor/ to decode.
//
//   TensorProto { DataType dtype = 1; TensorShapeProto tensor_shape = 2; int32 version_number = 3;
//                 bytes tensor_content = 4; then repeated, packed or not: float_val = 5, double_val = 6, int_val = 7,
//                 string_val = 8, scomplex_val = 9, int64_val = 10, bool_val = 11, dcomplex_val = 12, half_val = 13,
//                 uint32_val = 16, uint64_val = 17 } and bytes float8_val = 18, one byte an element
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/field.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

// TensorFlow's TensorShapeProto: the extents of a tensor, with the names that the Python package gives them.
// Decoding and encoding side by side.
//
//   TensorShapeProto { repeated Dim dim = 2 { int64 size = 1; string name = 2; }  bool unknown_rank = 3; }
namespace smdebug::inline v1::detail::wire {

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

/// Consumes a dimension of the usual form at the front of a shape: a Dim of less than 128 bytes that has a size of at
/// most 28 bits and then a name or none, and nothing else.  False for any other form; nothing is changed then.
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

/// The extent in one Dim; 0 if the field is absent, as everywhere in proto3.
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

/// Appends the extents in a shape, or in the rest of one.
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
/// Errors: those of field_reader; malformed for a negative extent and for an unknown rank, since a saved tensor had a
/// shape.  `extents` is then unspecified.
/// Always inlined: a scalar's shape is empty, and the call would be its whole cost.
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

/// Appends `shape` as a message; an extent of 0, the default, is left out.
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

namespace tensor_field {
inline constexpr field_number dtype = 1;
inline constexpr field_number shape = 2;
inline constexpr field_number content = 4;
inline constexpr field_number float_val = 5;
inline constexpr field_number double_val = 6;
inline constexpr field_number int_val = 7;
inline constexpr field_number string_val = 8;
inline constexpr field_number scomplex_val = 9;
inline constexpr field_number int64_val = 10;
inline constexpr field_number bool_val = 11;
inline constexpr field_number dcomplex_val = 12;
inline constexpr field_number half_val = 13;
inline constexpr field_number uint32_val = 16;
inline constexpr field_number uint64_val = 17;
inline constexpr field_number float8_val = 18;
}  // namespace tensor_field

/// The list field for elements of `type` if there is no content; 0 for `invalid`.
/// float16 and bfloat16 share one, as do the 8-bit floats and the integers up to 32 bits except uint32.
[[nodiscard]] constexpr field_number list_of(dtype type) noexcept {
    switch (type) {
        case dtype::float32:
            return tensor_field::float_val;
        case dtype::float64:
            return tensor_field::double_val;
        case dtype::int32:
        case dtype::int16:
        case dtype::int8:
        case dtype::uint16:
        case dtype::uint8:
            return tensor_field::int_val;
        case dtype::string:
            return tensor_field::string_val;
        case dtype::complex64:
            return tensor_field::scomplex_val;
        case dtype::int64:
            return tensor_field::int64_val;
        case dtype::boolean:
            return tensor_field::bool_val;
        case dtype::complex128:
            return tensor_field::dcomplex_val;
        case dtype::float16:
        case dtype::bfloat16:
            return tensor_field::half_val;
        case dtype::uint32:
            return tensor_field::uint32_val;
        case dtype::uint64:
            return tensor_field::uint64_val;
        case dtype::float8_e5m2:
        case dtype::float8_e4m3fn:
            return tensor_field::float8_val;
        case dtype::invalid:
            return 0;
    }
    return 0;
}

/// A parsed TensorProto.  If a field occurs twice, the last one counts; shapes are not merged.
/// Borrows: everything points into the message.
struct tensor_proto {
    std::uint64_t dtype_code = 0;    ///< as in the file; the Python package omits it (0) for strings
    std::optional<byte_view> shape;  ///< the TensorShapeProto: empty for a 0-d tensor, unset if missing
    byte_view content;               ///< tensor_content; if empty, elements may be in a list
    byte_view message;               ///< the whole message, which contains the lists
    std::uint32_t fields = 0;        ///< bit n: field n occurs, n < 32

    [[nodiscard]] constexpr bool has(field_number number) const noexcept {
        return number < 32 && ((fields >> number) & 1U) != 0;
    }
};

/// Errors: those of field_reader.      Cost: one pass over the fields; content and packed lists are skipped.
[[nodiscard]] constexpr result<tensor_proto> decode_tensor_proto(byte_view message) noexcept {
    tensor_proto tensor;
    tensor.message = message;
    field_reader reader{message};
    for (field f; reader.next(f);) {
        if (f.number < 32) {
            tensor.fields |= 1U << f.number;
        }
        if (f.is(tensor_field::dtype, wire_type::varint)) {
            tensor.dtype_code = f.as_uint64();
        } else if (f.is(tensor_field::shape, wire_type::length_delimited)) {
            tensor.shape = f.bytes;
        } else if (f.is(tensor_field::content, wire_type::length_delimited)) {
            tensor.content = f.bytes;
        }
    }
    if (reader.code() != status::ok) {
        return reader.code();
    }
    return tensor;
}

/// A TensorProto to write: elements as content, or strings as a list.
/// Borrows: every member.
struct tensor_fields {
    dtype type = dtype::invalid;  ///< `invalid` is left out, as the Python package does for strings
    tensor_shape shape;           ///< always written, empty for a 0-d tensor
    byte_view content;            ///< left out if empty
    std::span<const std::string_view> strings;
};

/// Bytes of `tensor` as a message.
[[nodiscard]] constexpr std::size_t encoded_size(const tensor_fields& tensor) noexcept {
    std::size_t size = delimited_field_size(tensor_field::shape, encoded_size(tensor.shape));
    if (tensor.type != dtype::invalid) {
        size += varint_field_size(tensor_field::dtype, static_cast<std::uint64_t>(tensor.type));
    }
    if (!tensor.content.empty()) {
        size += delimited_field_size(tensor_field::content, tensor.content.size());
    }
    for (const std::string_view text : tensor.strings) {
        size += delimited_field_size(tensor_field::string_val, text.size());
    }
    return size;
}

/// Appends `tensor` as a message, fields ordered by number.
inline void encode(field_writer& writer, const tensor_fields& tensor) {
    if (tensor.type != dtype::invalid) {
        writer.write_varint(tensor_field::dtype, static_cast<std::uint64_t>(tensor.type));
    }
    writer.begin_message(tensor_field::shape, encoded_size(tensor.shape));
    encode(writer, tensor.shape);
    if (!tensor.content.empty()) {
        writer.write_content(tensor_field::content, tensor.content);
    }
    for (const std::string_view text : tensor.strings) {
        writer.write_text(tensor_field::string_val, text);
    }
}

}  // namespace smdebug::inline v1::detail::wire
