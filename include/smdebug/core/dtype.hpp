// Element types of tensors: TensorFlow's numbers, numpy's names, sizes in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1 {

/// Element type.  The numbers are TensorFlow's DataType, as they stand in the files.
enum class dtype : std::uint8_t {
    invalid = 0,
    float32 = 1,
    float64 = 2,
    int32 = 3,
    uint8 = 4,
    int16 = 5,
    int8 = 6,
    string = 7,
    complex64 = 8,
    int64 = 9,
    boolean = 10,
    bfloat16 = 14,
    uint16 = 17,
    complex128 = 18,
    float16 = 19,
    uint32 = 22,
    uint64 = 23,
    float8_e5m2 = 24,
    float8_e4m3fn = 25,
};

namespace detail {

/// The names of the dtypes by their numbers; empty for numbers of TensorFlow's that have no dtype here.
inline constexpr std::string_view dtype_names[] = {"invalid",
                                                   "float32",
                                                   "float64",
                                                   "int32",
                                                   "uint8",
                                                   "int16",
                                                   "int8",
                                                   "string",
                                                   "complex64",
                                                   "int64",
                                                   "bool",
                                                   "",
                                                   "",
                                                   "",
                                                   "bfloat16",
                                                   "",
                                                   "",
                                                   "uint16",
                                                   "complex128",
                                                   "float16",
                                                   "",
                                                   "",
                                                   "uint32",
                                                   "uint64",
                                                   "float8_e5m2",
                                                   "float8_e4m3fn"};

}  // namespace detail

/// The dtype of a number in a file; `invalid` for numbers that have no value here (quantised types, resources, ...).
[[nodiscard]] constexpr dtype dtype_from_code(std::uint64_t code) noexcept {
    const bool is_known = code < std::size(detail::dtype_names) && !detail::dtype_names[code].empty();
    return is_known ? static_cast<dtype>(code) : dtype::invalid;
}

/// Bytes of one element; 0 for strings and `invalid`.
[[nodiscard]] constexpr std::size_t size_of(dtype type) noexcept {
    switch (type) {
        case dtype::int8:
        case dtype::uint8:
        case dtype::boolean:
        case dtype::float8_e5m2:
        case dtype::float8_e4m3fn:
            return 1;
        case dtype::float16:
        case dtype::bfloat16:
        case dtype::int16:
        case dtype::uint16:
            return 2;
        case dtype::float32:
        case dtype::int32:
        case dtype::uint32:
            return 4;
        case dtype::float64:
        case dtype::int64:
        case dtype::uint64:
        case dtype::complex64:
            return 8;
        case dtype::complex128:
            return 16;
        case dtype::string:
        case dtype::invalid:
            return 0;
    }
    return 0;
}

/// The name in numpy and its package ml_dtypes: "float32", "bool", "bfloat16", "float8_e5m2", "string", ...
[[nodiscard]] constexpr std::string_view name_of(dtype type) noexcept {
    return detail::dtype_names[static_cast<std::size_t>(dtype_from_code(static_cast<std::uint64_t>(type)))];
}

[[nodiscard]] constexpr bool is_complex(dtype type) noexcept {
    return type == dtype::complex64 || type == dtype::complex128;
}

/// Whether the elements are floating-point numbers, real or complex.
[[nodiscard]] constexpr bool is_floating(dtype type) noexcept {
    return type == dtype::float16 || type == dtype::bfloat16 || type == dtype::float32 || type == dtype::float64 ||
           type == dtype::float8_e4m3fn || type == dtype::float8_e5m2 || is_complex(type);
}

/// Extents, outermost first (C order). Without extents it is that of a 0-d tensor, which has one element.
using shape_type = std::vector<std::size_t>;

/// The product of the extents; nothing if it overflows. A zero extent gives 0, whatever the others are.
[[nodiscard]] constexpr std::optional<std::size_t> element_count(std::span<const std::size_t> extents) noexcept {
    std::size_t count = 1;
    bool overflows = false;
    for (const std::size_t extent : extents) {
        if (extent == 0) {
            return 0;
        }
        overflows = overflows || count > std::numeric_limits<std::size_t>::max() / extent;
        count *= overflows ? 1 : extent;
    }
    return overflows ? std::nullopt : std::optional{count};
}

/// "2x3" for {2, 3}; "" for a 0-d tensor.
[[nodiscard]] inline std::string shape_text(std::span<const std::size_t> extents) {
    std::string text;
    for (const std::size_t extent : extents) {
        if (!text.empty()) {
            text += 'x';
        }
        text += std::to_string(extent);
    }
    return text;
}

}  // namespace smdebug::inline v1
