// The typed lists of a TensorProto (float_val, int_val, ...): elements as protobuf fields.
// TensorFlow writes small tensors so, with a last value that stands for all that follow.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/float8.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/field_reader.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/varint.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace smdebug {
inline namespace v1 {

/// The most memory that a shape may claim beyond the values that are there, by repetition or by zeros: 256 MiB.
/// Without it, a file of a hundred bytes could ask for terabytes.  Values that are in the file are never refused.
inline constexpr std::size_t max_repeated_bytes = std::size_t{1} << 28;

namespace detail {

/// What a list holds for an element of type T: one number, or the two parts of a complex one.
template <class T>
struct list_layout {
    using part = T;
    static constexpr std::size_t parts = 1;
};
template <class T>
struct list_layout<std::complex<T>> {
    using part = T;
    static constexpr std::size_t parts = 2;
};

/// How a single part is laid out on the wire; the 8-bit floats are in a field of bytes, all of them.
template <class Part>
inline constexpr wire::wire_type part_layout = std::same_as<Part, float>    ? wire::wire_type::fixed32
                                               : std::same_as<Part, double> ? wire::wire_type::fixed64
                                               : float8<Part>               ? wire::wire_type::length_delimited
                                                                            : wire::wire_type::varint;

/// Bytes of a part on the wire; 0 for varints, which have no one size.
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
        return static_cast<Part>(bits);
    }
}

/// What a first look at a list finds.
struct list_survey {
    std::size_t parts = 0;
    std::size_t pieces = 0;  ///< packed chunks and single fields that hold something
    byte_view last_chunk;    ///< the last piece, where it is a packed chunk
};

/// Counts the parts in a packed chunk; empty where it ends within one.
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

/// Writes the parts of a list to `at`, which has room for all that survey() counted; `at` then stands behind them.
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

/// How many of `count` elements are to be held where `values` are there and the last one repeats: see repeated_block.
[[nodiscard]] constexpr std::size_t held_elements(std::size_t values, std::size_t count) noexcept {
    const std::size_t others = values > 0 ? values - 1 : 0;  // the last value begins behind them
    const std::size_t blocks = others / repeated_block + (others % repeated_block != 0 ? 2 : 1);
    return std::min(blocks * repeated_block, count);
}

template <class T>
[[nodiscard]] status decode_list_of(const wire::tensor_proto& tensor, decoded_tensor& out, std::size_t* repeats) {
    using part = typename list_layout<T>::part;
    const wire::field_number number = wire::list_of(dtype_of_v<T>);
    const result<list_survey> found = survey(tensor.message, number, part_layout<part>);
    if (!found.ok()) {
        return found.code();
    }
    const std::size_t values = found->parts / list_layout<T>::parts;
    if (found->parts % list_layout<T>::parts != 0) {
        return status::size_mismatch;  // half a complex number
    }
    if (!tensor.shape) {
        out.shape.assign(values == 1 ? 0 : 1, values);
    }
    const std::optional<std::size_t> count = element_count(out.shape);
    if (!count || *count > SIZE_MAX / sizeof(T)) {
        return status::too_large;
    }
    if (values > *count) {
        return status::size_mismatch;
    }
    if (values<*count&& * count * sizeof(T)> max_repeated_bytes) {
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
    const std::size_t size = made * sizeof(T);
    out.expanded.assign(size, std::byte{0});
    out.bytes = out.expanded;
    std::byte* at = out.expanded.data();
    if constexpr (float8<part>) {
        at = std::copy(found->last_chunk.begin(), found->last_chunk.end(), at);
    } else if (const status read = copy_parts<part>(tensor.message, number, at); read != status::ok) {
        return read;
    }
    if (values > 0) {
        repeat_element(at, out.expanded.data() + size, sizeof(T));
    }
    return status::ok;
}

}  // namespace detail

/// Decodes the list in which elements of `out.type`, which is numeric, are stored.
/// A list may come packed, as single fields, or both, in several pieces.  Where it has fewer values than the shape has
/// elements, the last one repeats; where it has none, all elements are zero: both as in TensorFlow, both up to
/// max_repeated_bytes.  Integers keep their low bits; float16 and bfloat16 are the low 16 bits of half_val; the 8-bit
/// floats are the bytes of float8_val.
/// Shapes:  `out.shape` where the proto has one; else it is set: 0-d for one value, 1-d for any other number.
/// Errors:  size_mismatch for more values than elements or half a complex number; too_large; those of field_reader.
/// Borrows: a packed list of floats, doubles or complex numbers that lies in one piece and is complete, and a complete
///          float8_val; anything else is expanded.      Cost: two passes over the message's fields.
/// `repeats`: where it is not null, a last value that repeats for long is written for a while only, and *repeats, which
///            has to be 0, becomes the number of elements that are left out, see repeated_block; what is too large is
///            so anyway.
[[nodiscard]] inline status decode_list(const detail::wire::tensor_proto& tensor, decoded_tensor& out,
                                        std::size_t* repeats = nullptr) {
    assert(is_numeric(out.type));
    return visit_dtype(out.type, [&]<class T>() { return detail::decode_list_of<T>(tensor, out, repeats); });
}

}  // namespace v1
}  // namespace smdebug
