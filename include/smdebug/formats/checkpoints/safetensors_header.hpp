// The header of a .safetensors: names, dtypes, shapes and places of its tensors.
// Everything is validated: models are shared between strangers.
//
//   u64 N, little-endian | N bytes of JSON | the elements, row-major, little-endian, tensor after tensor
//   { "__metadata__": {text: text, ...} or null, NAME: { "dtype": "F32", "shape": [2, 3], "data_offsets": [BEGIN, END] }, ... }
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/status.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::formats::detail {

/// Reads a part of a file, cut at its end.  Its exceptions are passed on unchanged.
using range_reader = function_ref<byte_buffer(byte_range)>;

struct stored_tensor {
    std::string name = {};
    dtype type = dtype::invalid;
    shape_type shape = {};
    byte_range where = {};      ///< of the elements, in the file; lies within the file
    bool big_endian = false;    ///< the bytes of each element are in big-endian order
    bool column_major = false;  ///< elements are in Fortran's order, the first extent the fastest; rank is 2 or more
    /// Makes the elements, where they do not lie in one piece of the file.
    std::function<std::vector<std::byte>()> make = {};
    std::optional<std::string_view> collection = {};  ///< a literal, empty for none; nothing if the name decides
};

/// Something that is not read, and why, as a sentence without its full stop.
struct left_out {
    std::string name = {};
    std::string why = {};
    problem_kind kind = problem_kind::damaged;
    friend bool operator==(const left_out&, const left_out&) = default;
};

/// A tensor of higher rank is refused, as by TensorFlow; this also bounds the size of a header.
inline constexpr std::size_t most_extents = 254;

struct stored_tensors {
    std::vector<stored_tensor> tensors = {};                         ///< by name, each once
    std::vector<left_out> not_read = {};                             ///< tensors of unsupported dtypes
    std::vector<std::pair<std::string, std::string>> metadata = {};  ///< texts of the writer
};

/// The size in bytes of a numeric tensor's elements; nothing if it does not fit into 64 bits.
[[nodiscard]] constexpr std::optional<std::uint64_t> content_bytes(dtype type,
                                                                   std::span<const std::size_t> shape) noexcept {
    const std::optional<std::size_t> count = element_count(shape);
    if (!count || *count > UINT64_MAX / (size_of(type) == 0 ? 1 : size_of(type))) {
        return std::nullopt;
    }
    return *count * size_of(type);
}

/// The size limit of a header, as in the reference implementation.
inline constexpr std::uint64_t most_header_bytes = 100'000'000;

/// The dtype that safetensors calls "F32", "BF16", "F8_E4M3", ...; `invalid` for names without a dtype here.
[[nodiscard]] constexpr dtype dtype_in_safetensors(std::string_view name) noexcept {
    struct row {
        std::string_view name;
        dtype type;
    };
    constexpr row rows[] = {
        {"BOOL", dtype::boolean},
        {"U8", dtype::uint8},
        {"I8", dtype::int8},
        {"F8_E5M2", dtype::float8_e5m2},
        {"F8_E4M3", dtype::float8_e4m3fn},
        {"I16", dtype::int16},
        {"U16", dtype::uint16},
        {"F16", dtype::float16},
        {"BF16", dtype::bfloat16},
        {"I32", dtype::int32},
        {"U32", dtype::uint32},
        {"F32", dtype::float32},
        {"I64", dtype::int64},
        {"U64", dtype::uint64},
        {"F64", dtype::float64},
        {"C64", dtype::complex64},
    };
    for (const row& each : rows) {
        if (each.name == name) {
            return each.type;
        }
    }
    return dtype::invalid;
}

/// The tensors of a file of `size` bytes; `file` names it in errors.
/// As in the reference implementation, tensors are contiguous from the header's end to the file's end, with neither
/// holes nor overlaps.  A tensor of an unknown dtype is in `not_read`.
/// Errors:  corrupt_data, with the file, the tensor and the reason, for every invalid header: a length beyond the file
///          or most_header_bytes, invalid JSON, JSON nested too deep, invalid UTF-8, fields that are missing, repeated
///          or of another type, repeated names, places outside the file, overlaps, holes, bytes after the last tensor,
///          and shapes that do not match the sizes; those of `read`.
/// Cost:    one read of at most 64 KiB, for a longer header another; memory: some 20 times the header while it is
///          parsed.
[[nodiscard]] stored_tensors read_safetensors_header(const std::string& file, std::uint64_t size, range_reader read);

struct safetensors_index {
    std::vector<std::pair<std::string, std::string>> file_of = {};  ///< tensor and file, by tensor

    /// The files, each once, in order; relative to the index's folder.
    [[nodiscard]] std::vector<std::string> files() const;
};

/// Parses the bytes of an index; `file` names it in errors.
/// Errors: corrupt_data if it is longer than most_header_bytes or not JSON, has no "weight_map" of texts, or names a
///         tensor twice or a file outside the index's folder (absolute, or with "..").
[[nodiscard]] safetensors_index parse_safetensors_index(const std::string& file, byte_view bytes);

}  // namespace smdebug::inline v1::formats::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/safetensors_header.ipp>
#endif
