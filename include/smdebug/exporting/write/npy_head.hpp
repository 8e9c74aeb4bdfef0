// What stands before an array's elements in an .npy: numpy's format 1.0, or 2.0 where the shape takes much room.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// numpy has no arrays of more dimensions (from 2.0 on: 64).
inline constexpr std::size_t most_numpy_dimensions = 32;

/// numpy's word for a dtype, "<f4"; empty for those that it has none for: bfloat16, the two of 8 bits,
/// strings.
[[nodiscard]] std::string_view numpy_type(dtype type) noexcept;

/// The head, byte for byte as numpy writes it, for arrays in C order.  It has room for any first extent: its size is
/// that of the head of any other shape that differs in this alone.
[[nodiscard]] std::string npy_head(std::string_view type, std::span<const std::size_t> shape);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/npy_head.ipp>
#endif
