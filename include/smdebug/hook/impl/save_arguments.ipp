// The bodies of <smdebug/hook/save_arguments.hpp>.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/printable_text.hpp>
#include <smdebug/hook/save_arguments.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace smdebug::inline v1 {
namespace detail {

SMDEBUG_INLINE std::string extents_text(std::span<const std::size_t> extents) {
    std::string text = "(";
    for (const std::size_t extent : extents) {
        text += text.size() > 1 ? ", " : "";
        text += std::to_string(static_cast<std::int64_t>(extent));
    }
    return text + ")";
}

// Whether extents fit the int64 of files, and match that number of elements.
[[nodiscard]] inline bool is_shape_of(std::span<const std::size_t> extents, std::size_t count) noexcept {
    constexpr std::size_t largest = std::numeric_limits<std::int64_t>::max();
    return std::all_of(extents.begin(), extents.end(), [](std::size_t extent) { return extent <= largest; }) &&
           element_count(extents) == count;
}

// `holds`: "12 elements".
[[noreturn]] inline void refuse_shape(std::string_view name, const std::string& holds,
                                      std::span<const std::size_t> extents) {
    throw value_error("the tensor \"" + std::string{name} + "\" " + holds + ", which the shape " +
                          extents_text(extents) + " does not fit",
                      {.tensor = std::string{name}});
}

SMDEBUG_INLINE void check_shape(std::span<const std::size_t> extents, std::size_t count, const char* what,
                                std::string_view name) {
    if (!is_shape_of(extents, count)) {
        refuse_shape(name, "has " + std::to_string(count) + " " + what, extents);
    }
}

SMDEBUG_INLINE void check_tensor_name(std::string_view name) {
    if (name.empty()) {
        throw value_error("a tensor's name is empty");
    }
    if (!is_utf8(name)) {
        throw value_error("the tensor's name \"" + std::string{name} + "\" is not valid UTF-8");
    }
    if (name.find(reductions_prefix) != std::string_view::npos) {
        throw value_error("the tensor's name \"" + std::string{name} + "\" has \"" + std::string{reductions_prefix} +
                              "\" in it, which is for the reductions that a hook saves: choose another name",
                          {.tensor = std::string{name}});
    }
}

}  // namespace detail

SMDEBUG_INLINE tensor_view view_of(std::span<const std::string_view> texts, std::span<const std::size_t> extents,
                                   std::string_view name) {
    detail::check_shape(extents, texts.size(), "strings", name);
    return {.type = dtype::string, .shape = extents, .bytes = {}, .strings = texts};
}

SMDEBUG_INLINE void check(const tensor_view& tensor, std::string_view name) {
    const bool whole = tensor.type == dtype::string
                           ? tensor.bytes.empty() && detail::is_shape_of(tensor.shape, tensor.strings.size())
                           : is_numeric(tensor.type) && tensor.strings.empty() &&
                                 detail::is_shape_of(tensor.shape, tensor.bytes.size() / size_of(tensor.type)) &&
                                 tensor.bytes.size() % size_of(tensor.type) == 0;
    if (!whole) {
        detail::refuse_shape(
            name, "(" + std::string{name_of(tensor.type)} + ") has " + std::to_string(tensor.bytes.size()) + " bytes",
            tensor.shape);
    }
}

}  // namespace smdebug::inline v1
