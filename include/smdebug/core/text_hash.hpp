// Heterogeneous look-up: unordered containers of strings are searched by a view, without making a string.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The Hash of a container of strings whose KeyEqual is std::equal_to<>.
struct text_hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
