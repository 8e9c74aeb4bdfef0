// From a TensorProto to a tensor: decides which of its encodings holds the elements.
// Between the encodings (raw, typed, string) and the record; also useful for readers of other TensorProtos.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// tensor_content: the elements as in memory, so decoding is a view.
// The Python package stores every tensor so, except strings.
namespace smdebug::inline v1 {
namespace detail {

/// Whether some byte is neither 0 nor 1.  No early exit: so the loop becomes vector code.
[[nodiscard, gnu::noinline]] inline bool has_odd_boolean(byte_view bytes) noexcept {
    std::uint8_t all = 0;
    for (const std::byte byte : bytes) {
        all = static_cast<std::uint8_t>(all | static_cast<std::uint8_t>(byte));
    }
    return all > 1;
}

/// Makes every non-zero byte 1, in a copy.  Separate: keeps decode_content() small.
[[gnu::noinline]] inline void copy_booleans(byte_view content, decoded_tensor& out) {
    out.expanded.assign(content.begin(), content.end());
    for (std::byte& byte : out.expanded) {
        byte = byte == std::byte{0} ? std::byte{0} : std::byte{1};
    }
    out.bytes = out.expanded;
}

}  // namespace detail

/// Makes `content` the elements of `out`, whose type is numeric.
/// Shapes:  `out.shape` gives the count; if `has_shape` is false it is set: 0-d for one element, else 1-d.
/// Errors:  too_large if the shape's byte count overflows, size_mismatch if it differs from that of `content`.
/// Borrows: `content`, in place; but reading booleans other than 0 and 1 is undefined in C++, so content with such
///          bytes is copied to `out.expanded` with every non-zero byte as 1.
/// Always inlined, as a call would cost a scalar as much as all of the work here.
[[nodiscard, gnu::always_inline]] inline status decode_content(byte_view content, bool has_shape, decoded_tensor& out) {
    assert(is_numeric(out.type));
    const std::size_t size = size_of(out.type);
    if (!has_shape) {
        const std::size_t count = content.size() / size;
        out.shape.assign(count == 1 ? 0 : 1, count);
    }
    const std::optional<std::size_t> count = element_count(out.shape);
    if (!count || *count > SIZE_MAX >> std::countr_zero(size)) {  // sizes are powers of two
        return status::too_large;
    }
    if (content.size() != *count * size) {
        return status::size_mismatch;
    }
    out.bytes = content;
    if (out.type == dtype::boolean && detail::has_odd_boolean(content)) {
        detail::copy_booleans(content, out);
    }
    return status::ok;
}

// The typed lists of a TensorProto (float_val, int_val, ...): elements as protobuf fields.
// TensorFlow's encoding of small tensors; a last value may stand for all that follow.

/// The most memory that a shape may claim beyond the stored values, by repetition or by zeros: 256 MiB.
/// Without it, a file of a hundred bytes could claim terabytes.  Stored values are never refused.
inline constexpr std::size_t max_repeated_bytes = std::size_t{1} << 28;

namespace detail {

/// The list entry of an element of type Element: one number, or the two parts of a complex one.
template <class Element>
struct list_layout {
    using part = Element;
    static constexpr std::size_t parts = 1;
};
template <class Element>
struct list_layout<std::complex<Element>> {
    using part = Element;
    static constexpr std::size_t parts = 2;
};

/// The wire layout of a single part; all 8-bit floats are in one field of bytes.
template <class Part>
inline constexpr wire::wire_type part_layout = std::same_as<Part, float>    ? wire::wire_type::fixed32
                                               : std::same_as<Part, double> ? wire::wire_type::fixed64
                                               : float8<Part>               ? wire::wire_type::length_delimited
                                                                            : wire::wire_type::varint;

/// Bytes of a part on the wire; 0 for varints, which vary in size.
[[nodiscard]] constexpr std::size_t part_size(wire::wire_type layout) noexcept {
    return layout == wire::wire_type::fixed32            ? 4
           : layout == wire::wire_type::fixed64          ? 8
           : layout == wire::wire_type::length_delimited ? 1
                                                         : 0;
}

/// A part from the bits of its field.  Integers keep their low bits, as in TensorFlow.
template <class Part>
[[nodiscard]] constexpr Part part_from(std::uint64_t bits) noexcept {
    if constexpr (std::same_as<Part, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else if constexpr (std::same_as<Part, double>) {
        return std::bit_cast<double>(bits);
    } else if constexpr (std::same_as<Part, float16> || std::same_as<Part, bfloat16>) {
        return Part::from_bits(static_cast<std::uint16_t>(bits));
    } else if constexpr (std::same_as<Part, bool>) {
        return bits != 0;
    } else {
        static_assert(std::integral<Part> || float8<Part>, "another type needs its conversion");
        return static_cast<Part>(bits);
    }
}

/// The result of a first look at a list.
struct list_survey {
    std::size_t parts = 0;
    std::size_t pieces = 0;  ///< non-empty packed chunks and single fields
    byte_view last_chunk;    ///< the last piece, if it is a packed chunk
};

/// Counts the parts in a packed chunk; empty if it ends within one.
[[nodiscard]] inline std::optional<std::size_t> parts_in(byte_view chunk, wire::wire_type layout) noexcept {
    if (const std::size_t size = part_size(layout); size != 0) {
        return chunk.size() % size == 0 ? std::optional{chunk.size() / size} : std::nullopt;
    }
    std::size_t ends = 0;
    for (const std::byte byte : chunk) {
        ends += byte < std::byte{0x80} ? 1U : 0U;
    }
    return chunk.empty() || chunk.back() < std::byte{0x80} ? std::optional{ends} : std::nullopt;
}

[[nodiscard]] inline result<list_survey> survey(byte_view message, wire::field_number number,
                                                wire::wire_type layout) noexcept {
    list_survey found;
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        std::size_t parts = 0;
        if (f.is(number, wire::wire_type::length_delimited)) {
            const auto packed = parts_in(f.bytes, layout);
            if (!packed) {
                return status::malformed;
            }
            parts = *packed;
        } else if (f.is(number, layout)) {
            parts = 1;
        }
        if (layout == wire::wire_type::length_delimited && f.is(number, layout)) {
            found = {parts, 1, f.bytes};  // such a field does not repeat: the last one counts
        } else if (parts != 0) {
            found.parts += parts;
            ++found.pieces;
            found.last_chunk = f.bytes;
        }
    }
    if (reader.code() != status::ok) {
        return reader.code();
    }
    return found;
}

/// Writes the parts of a list to `at`, which has room for all that survey() counted, and advances `at`.
template <class Part>
[[nodiscard]] status copy_parts(byte_view message, wire::field_number number, std::byte*& at) noexcept {
    wire::field_reader reader{message};
    for (wire::field f; reader.next(f);) {
        if (f.is(number, part_layout<Part>)) {
            store_le(at, part_from<Part>(f.scalar));
            at += sizeof(Part);
        } else if (!f.is(number, wire::wire_type::length_delimited)) {
            continue;
        } else if constexpr (part_size(part_layout<Part>) != 0) {
            at = std::copy(f.bytes.begin(), f.bytes.end(), at);
        } else {
            for (byte_view rest = f.bytes; !rest.empty(); at += sizeof(Part)) {
                std::uint64_t bits = 0;
                if (wire::take_varint(rest, bits) != status::ok) {
                    return status::malformed;
                }
                store_le(at, part_from<Part>(bits));
            }
        }
    }
    return reader.code();
}

/// How many of `count` elements to store if there are `values` and the last one repeats: see repeated_block.
[[nodiscard]] constexpr std::size_t held_elements(std::size_t values, std::size_t count) noexcept {
    const std::size_t others = values > 0 ? values - 1 : 0;  // the last value follows them
    const std::size_t blocks = others / repeated_block + (others % repeated_block != 0 ? 2 : 1);
    return std::min(blocks * repeated_block, count);
}

template <class Element>
[[nodiscard]] status decode_list_of(const wire::tensor_proto& tensor, decoded_tensor& out, std::size_t* repeats) {
    using part = typename list_layout<Element>::part;
    const wire::field_number number = wire::list_of(dtype_of_v<Element>);
    const result<list_survey> found = survey(tensor.message, number, part_layout<part>);
    if (!found.ok()) {
        return found.code();
    }
    const std::size_t values = found->parts / list_layout<Element>::parts;
    if (found->parts % list_layout<Element>::parts != 0) {
        return status::size_mismatch;  // half a complex number
    }
    if (!tensor.shape) {
        out.shape.assign(values == 1 ? 0 : 1, values);
    }
    const std::optional<std::size_t> count = element_count(out.shape);
    if (!count || *count > SIZE_MAX / sizeof(Element)) {
        return status::too_large;
    }
    if (values > *count) {
        return status::size_mismatch;
    }
    if (values<*count&& * count * sizeof(Element)> max_repeated_bytes) {
        return status::too_large;
    }
    if (part_size(part_layout<part>) != 0 && values == *count && found->pieces == 1 && !found->last_chunk.empty()) {
        out.bytes = found->last_chunk;
        return status::ok;
    }
    const std::size_t made = repeats != nullptr ? held_elements(values, *count) : *count;
    if (repeats != nullptr) {
        *repeats = *count - made;
    }
    const std::size_t size = made * sizeof(Element);
    out.expanded.assign(size, std::byte{0});
    out.bytes = out.expanded;
    std::byte* at = out.expanded.data();
    if constexpr (float8<part>) {
        at = std::copy(found->last_chunk.begin(), found->last_chunk.end(), at);
    } else if (const status read = copy_parts<part>(tensor.message, number, at); read != status::ok) {
        return read;
    }
    if (values > 0) {
        repeat_element(at, out.expanded.data() + size, sizeof(Element));
    }
    return status::ok;
}

}  // namespace detail

/// Decodes the list of elements of `out.type`, which is numeric.
/// A list may be packed, single fields, or both, in several pieces.  If it has fewer values than the shape has
/// elements, the last one repeats; if it has none, all elements are zero: both as in TensorFlow, both up to
/// max_repeated_bytes.  Integers keep their low bits; float16 and bfloat16 are the low 16 bits of half_val; the 8-bit
/// floats are the bytes of float8_val.
/// Shapes:  `out.shape` if the proto has one; else it is set: 0-d for one value, 1-d for any other number.
/// Errors:  size_mismatch for more values than elements or half a complex number; too_large; those of field_reader.
/// Borrows: a packed list of floats, doubles or complex numbers that is complete and in one piece, and a complete
///          float8_val; anything else is expanded.      Cost: two passes over the message's fields.
/// `repeats`: if not null, a long trailing repeat is not expanded, and *repeats, initially 0, becomes the number of
///            elements left out, see repeated_block; too_large applies all the same.
[[nodiscard]] inline status decode_list(const detail::wire::tensor_proto& tensor, decoded_tensor& out,
                                        std::size_t* repeats = nullptr) {
    assert(is_numeric(out.type));
    return visit_dtype(out.type,
                       [&]<class Element>() { return detail::decode_list_of<Element>(tensor, out, repeats); });
}

// Tensors of strings: string_val, or TensorFlow's packing of strings into tensor_content.
// Separate from the numeric decoders, because elements are views here, not bytes of one size.
namespace detail {

/// `content` holds `count` lengths as varints, then the strings' bytes.
[[nodiscard]] inline status decode_packed_strings(byte_view content, std::size_t count, decoded_tensor& out) {
    if (count > content.size()) {
        return status::size_mismatch;  // a length takes a byte at least
    }
    byte_view lengths = content;
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (wire::take_varint(lengths, length) != status::ok) {
            return status::malformed;
        }
    }
    byte_view text = lengths;  // starts at the end of the lengths
    lengths = content;
    for (std::size_t i = 0; i < count; ++i) {
        if (wire::take_varint(lengths, length) != status::ok || length > text.size()) {
            return status::size_mismatch;
        }
        out.strings.push_back(as_text(text.first(std::size_t{length})));
        text = text.subspan(std::size_t{length});
    }
    return text.empty() ? status::ok : status::size_mismatch;
}

}  // namespace detail

/// Decodes the strings of `tensor` into `out.strings`.  They are bytes: UTF-8 is not checked.
/// If there are fewer than the shape has elements, the last one repeats; if there are none, all are empty: as in
/// TensorFlow, and up to max_repeated_bytes (of views).
/// Shapes:  as in decode_list; packed strings need a shape, which gives their number.
/// Errors:  size_mismatch, too_large, those of field_reader.      Borrows: every string points into the message.
[[nodiscard]] inline status decode_strings(const detail::wire::tensor_proto& tensor, decoded_tensor& out) {
    detail::wire::field_reader reader{tensor.message};
    if (tensor.content.empty()) {
        for (detail::wire::field f; reader.next(f);) {
            if (f.is(detail::wire::tensor_field::string_val, detail::wire::wire_type::length_delimited)) {
                out.strings.push_back(f.as_text());
            }
        }
        if (reader.code() != status::ok) {
            return reader.code();
        }
    }
    const std::size_t found = out.strings.size();
    if (!tensor.shape) {
        out.shape.assign(found == 1 ? 0 : 1, found);
    }
    const std::optional<std::size_t> count = element_count(out.shape);
    if (!count) {
        return status::too_large;
    }
    if (!tensor.content.empty()) {
        return detail::decode_packed_strings(tensor.content, *count, out);
    }
    if (found > *count) {
        return status::size_mismatch;
    }
    const std::string_view last = found == 0 ? std::string_view{} : out.strings.back();
    // Keeping the tensor copies every repetition: so the limit applies to the copies, not only to the views.
    const std::size_t cost = sizeof(std::string) + sizeof(std::string_view) + last.size();
    if (found < *count && (*count - found) > max_repeated_bytes / cost) {
        return status::too_large;
    }
    out.strings.resize(*count, last);
    return status::ok;
}

namespace detail {

/// Clears `out`; its vectors keep their capacity.
inline void clear(decoded_tensor& out) noexcept {
    out.name = {};
    out.type = dtype::invalid;
    out.shape.clear();
    out.bytes = {};
    out.expanded.clear();
    out.strings.clear();
    out.owner.reset();
}

/// The dtype of a proto.  The Python package writes none (0) for strings: so 0 means string if there are strings, or if
/// the shape has no elements.
[[nodiscard]] inline dtype type_of(const wire::tensor_proto& tensor, const shape_type& shape) noexcept {
    if (tensor.dtype_code != 0 || !tensor.content.empty()) {
        return dtype_from_code(tensor.dtype_code);
    }
    const bool no_elements = tensor.shape && element_count(shape) == 0U;
    return tensor.has(wire::tensor_field::string_val) || no_elements ? dtype::string : dtype::invalid;
}

}  // namespace detail

/// Decodes a TensorProto into `out`, which is replaced; its name becomes empty.
/// If both exist, content takes precedence over lists, as in TensorFlow.
/// Errors:  unsupported for a dtype without a counterpart; those of decode_tensor_shape, decode_content, decode_list
///          and decode_strings.  `out` is then unspecified, and may be used again.
/// Borrows: the message, for strings and mostly for elements; see decoded_tensor.
/// `repeats`: null, or receives the number of elements left out of `out.bytes`, see decode_list.
[[nodiscard]] inline status decode_tensor(const detail::wire::tensor_proto& tensor, decoded_tensor& out,
                                          std::size_t* repeats = nullptr) {
    detail::clear(out);
    if (repeats != nullptr) {
        *repeats = 0;
    }
    if (tensor.shape) {
        if (const status read = detail::wire::decode_tensor_shape(*tensor.shape, out.shape); read != status::ok) {
            return read;
        }
    }
    out.type = detail::type_of(tensor, out.shape);
    if (out.type == dtype::invalid) {
        return status::unsupported;
    }
    if (out.type == dtype::string) {
        return decode_strings(tensor, out);
    }
    return tensor.content.empty() ? decode_list(tensor, out, repeats)
                                  : decode_content(tensor.content, tensor.shape.has_value(), out);
}

namespace detail {

/// The content of a HistogramProto as TensorBoard shows it: empty buckets at both ends are left out.
struct histogram_rows {
    double min = 0;
    double max = 0;
    double num = 0;
    double sum = 0;
    double sum_squares = 0;
    bool has_sums = false;          ///< whether `sum` and `sum_squares` are known
    std::vector<double> rows = {};  ///< left edge, right edge, count of each bucket

    [[nodiscard]] std::size_t buckets() const noexcept { return rows.size() / 3; }
};

/// Reads a HistogramProto.      Errors: malformed if the lists differ in length, and those of field_reader.
[[nodiscard]] status read_histogram_message(byte_view message, histogram_rows& out);

/// Reads a HistogramProto without its rows.      Cost: one pass over the fields; no allocation.
[[nodiscard]] status read_histogram_numbers(byte_view message, histogram_rows& out);

/// Reads the TensorProto of rows that TensorFlow 2 writes.  min and max are the outer edges of the non-empty buckets;
/// sums are unknown.      Errors: malformed unless it has three columns of real numbers, and those of decode_tensor.
[[nodiscard]] status read_histogram_tensor(byte_view tensor, histogram_rows& out);

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/proto_decoder.ipp>
#endif
