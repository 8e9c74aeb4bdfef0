// The header of a .safetensors: names, dtypes, shapes and places of its tensors.
// Trusts nothing: a file comes from whoever shares a model.
//
//   u64 N, little-endian | N bytes of JSON | the elements, row-major, little-endian, tensor after tensor
//   { "__metadata__": {text: text, ...} or null, NAME: { "dtype": "F32", "shape": [2, 3], "data_offsets": [BEGIN, END] }, ... }
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/formats/checkpoints/stored_tensor.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace formats {
namespace detail {

/// The most that a header may have, as in the reference implementation.
inline constexpr std::uint64_t most_header_bytes = 100'000'000;

/// The dtype that safetensors writes as "F32", "BF16", "F8_E4M3", ...; `invalid` for names that have none here.
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
/// As the reference has it, tensors lie one behind the other, from the header's end to the file's: with neither holes nor
/// overlaps.  A tensor of an unknown dtype is in `not_read`.
/// Errors:  corrupt_data, with the file, the tensor and what is wrong, for everything that cannot be: a length beyond the
///          file or most_header_bytes, no JSON, JSON nested too deep, bytes that are no UTF-8, fields that are missing,
///          of another kind or there twice, names that come twice, places outside of the file, overlaps, holes, bytes
///          behind the last tensor, and shapes that make other sizes; those of `read`.
/// Cost:    one read of at most 64 KiB, for a longer header another; memory: some 20 times the header while it is parsed.
[[nodiscard]] stored_tensors read_safetensors_header(const std::string& file, std::uint64_t size, range_reader read);

}  // namespace detail
}  // namespace formats
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/formats/checkpoints/impl/safetensors_header.ipp>
#endif
