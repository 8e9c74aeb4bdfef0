// TensorFlow's TensorProto: dtype, shape and elements of one tensor.
// Elements stay on the wire: content as bytes, lists as the message in which they lie, for tensor/ to decode.
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
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/field_writer.hpp>
#include <smdebug/wire/tensor_shape.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

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

/// The list that holds elements of `type` where there is no content; 0 for `invalid`.
/// float16 and bfloat16 share one, as do the 8-bit floats and the integers up to 32 bits but for uint32.
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

/// A TensorProto, looked at once.  A field that occurs twice counts as the last one does; shapes are not merged.
/// Borrows: everything points into the message.
struct tensor_proto {
    std::uint64_t dtype_code = 0;    ///< as in the file; the Python package leaves it out (0) for strings
    std::optional<byte_view> shape;  ///< the TensorShapeProto: empty for a 0-d tensor, absent where none was written
    byte_view content;               ///< tensor_content; where empty, the elements are in a list, if anywhere
    byte_view message;               ///< the whole message, in which the lists lie
    std::uint32_t fields = 0;        ///< bit n: field n occurs, n < 32

    [[nodiscard]] constexpr bool has(field_number number) const noexcept {
        return number < 32 && ((fields >> number) & 1U) != 0;
    }
};

/// Errors: those of field_reader.      Cost: one pass over the fields; content and packed lists are stepped over.
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
    dtype type = dtype::invalid;  ///< `invalid` is left out: so the Python package writes strings
    tensor_shape shape;           ///< always written, empty for a 0-d tensor
    byte_view content;            ///< left out where empty
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

/// Appends `tensor` as a message, fields in the order of their numbers.
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

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
