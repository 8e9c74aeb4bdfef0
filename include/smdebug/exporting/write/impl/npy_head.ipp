// The bodies of <smdebug/exporting/write/npy_head.hpp>.
#pragma once

#include <smdebug/exporting/write/npy_head.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string_view numpy_type(dtype type) noexcept {
    switch (type) {
        case dtype::float16:
            return "<f2";
        case dtype::float32:
            return "<f4";
        case dtype::float64:
            return "<f8";
        case dtype::int8:
            return "|i1";
        case dtype::int16:
            return "<i2";
        case dtype::int32:
            return "<i4";
        case dtype::int64:
            return "<i8";
        case dtype::uint8:
            return "|u1";
        case dtype::uint16:
            return "<u2";
        case dtype::uint32:
            return "<u4";
        case dtype::uint64:
            return "<u8";
        case dtype::boolean:
            return "|b1";
        case dtype::complex64:
            return "<c8";
        case dtype::complex128:
            return "<c16";
        case dtype::bfloat16:
        case dtype::float8_e4m3fn:
        case dtype::float8_e5m2:
        case dtype::string:
        case dtype::invalid:
            return {};
    }
    return {};
}

SMDEBUG_INLINE std::string npy_head(std::string_view type, std::span<const std::size_t> shape) {
    constexpr std::size_t most_digits = 21;  // for which numpy leaves room in the first extent
    constexpr std::size_t alignment = 64;
    std::string text{"{'descr': '"};
    text.append(type).append("', 'fortran_order': False, 'shape': (");
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text.append(i == 0 ? "" : ", ").append(std::to_string(shape[i]));
    }
    text += shape.size() == 1 ? ",), }" : "), }";
    if (!shape.empty()) {
        text.append(most_digits - std::to_string(shape.front()).size(), ' ');
    }
    const bool is_long = text.size() + alignment > 0xffff;
    std::string head{"\x93NUMPY"};
    head += is_long ? '\2' : '\1';
    head += '\0';
    const std::size_t before = head.size() + (is_long ? 4 : 2);
    text.append(alignment - (before + text.size() + 1) % alignment, ' ').append("\n");
    for (std::size_t i = 0; i < (is_long ? 4U : 2U); ++i) {
        head += static_cast<char>((text.size() >> (8 * i)) & 0xffU);
    }
    return head + text;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
