// tensor_content: the elements as they lie in memory, so decoding is looking.
// The way in which the Python package stores every tensor that is not of strings.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// Whether some byte is neither 0 nor 1.  No early way out: so the loop becomes vector code.
[[nodiscard, gnu::noinline]] inline bool has_odd_boolean(byte_view bytes) noexcept {
    std::uint8_t all = 0;
    for (const std::byte byte : bytes) {
        all = static_cast<std::uint8_t>(all | static_cast<std::uint8_t>(byte));
    }
    return all > 1;
}

/// Makes every non-zero byte 1, in a copy.  Apart: decode_content() has few instructions without it.
[[gnu::noinline]] inline void copy_booleans(byte_view content, decoded_tensor& out) {
    out.expanded.assign(content.begin(), content.end());
    for (std::byte& byte : out.expanded) {
        byte = byte == std::byte{0} ? std::byte{0} : std::byte{1};
    }
    out.bytes = out.expanded;
}

}  // namespace detail

/// Makes `content` the elements of `out`, whose type is numeric.
/// Shapes:  `out.shape` tells the count; where `has_shape` is false it is set: 0-d for one element, else 1-d.
/// Errors:  too_large where the shape's byte count overflows, size_mismatch where it is not that of `content`.
/// Borrows: `content`, in place; but booleans other than 0 and 1 are undefined to look at in C++, so content that has
///          such is copied to `out.expanded` with every non-zero byte as 1.
/// Always a part of its caller, as a call would cost a scalar as much as all that is done here.
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

}  // namespace v1
}  // namespace smdebug
