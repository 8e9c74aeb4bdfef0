// Heterogeneous look-up: searches unordered containers of strings by a view, without making a string.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace smdebug::inline v1::detail {

/// The Hash of a container of strings whose KeyEqual is std::equal_to<>.
struct text_hash {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(std::string_view text) const noexcept {
        return std::hash<std::string_view>{}(text);
    }
};

}  // namespace smdebug::inline v1::detail
