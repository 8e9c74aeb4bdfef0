// The bodies of <smdebug/hook/tensor_source.hpp>.
#pragma once

#include <smdebug/core/shape.hpp>
#include <smdebug/hook/tensor_source.hpp>

#include <cstdint>
#include <limits>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::string extents_text(std::span<const std::size_t> extents) {
    std::string text = "(";
    for (const std::size_t extent : extents) {
        text += text.size() > 1 ? ", " : "";
        text += std::to_string(static_cast<std::int64_t>(extent));
    }
    return text + ")";
}

SMDEBUG_INLINE bool is_shape_of(std::span<const std::size_t> extents, std::size_t count) noexcept {
    constexpr std::size_t largest = std::numeric_limits<std::int64_t>::max();
    return std::all_of(extents.begin(), extents.end(), [](std::size_t extent) { return extent <= largest; }) &&
           element_count(extents) == count;
}

}  // namespace detail

SMDEBUG_INLINE tensor_view view_of(std::span<const std::string_view> texts, std::span<const std::size_t> extents,
                                   std::string_view name) {
    if (!detail::is_shape_of(extents, texts.size())) {
        throw value_error("the tensor \"" + std::string{name} + "\" has " + std::to_string(texts.size()) +
                              " texts, which the shape " + detail::extents_text(extents) + " does not fit",
                          {.tensor = std::string{name}});
    }
    return {.type = dtype::string, .shape = extents, .bytes = {}, .strings = texts};
}

SMDEBUG_INLINE void check(const tensor_view& tensor, std::string_view name) {
    const bool whole = tensor.type == dtype::string
                           ? tensor.bytes.empty() && detail::is_shape_of(tensor.shape, tensor.strings.size())
                           : is_numeric(tensor.type) && tensor.strings.empty() &&
                                 detail::is_shape_of(tensor.shape, tensor.bytes.size() / size_of(tensor.type)) &&
                                 tensor.bytes.size() % size_of(tensor.type) == 0;
    if (!whole) {
        throw value_error("the tensor \"" + std::string{name} + "\" (" + std::string{name_of(tensor.type)} + ") has " +
                              std::to_string(tensor.bytes.size()) + " bytes, which the shape " +
                              detail::extents_text(tensor.shape) + " does not fit",
                          {.tensor = std::string{name}});
    }
}

}  // namespace v1
}  // namespace smdebug
