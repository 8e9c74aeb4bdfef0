// Looking texts up in unordered containers by views of them, without making a string for each question.
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
