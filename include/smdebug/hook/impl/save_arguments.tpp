// The bodies of <smdebug/hook/save_arguments.hpp> that are templates.
#pragma once

#include <smdebug/hook/save_arguments.hpp>

namespace smdebug {
inline namespace v1 {

template <copied_values V>
detail::values_copy<V>::values_copy(const V& values) {
    if constexpr (element_matrix<V>) {
        const auto rows = values.rows();
        const auto columns = values.cols();
        hold(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
        element_type* to = elements_.get();
        for (auto row = decltype(rows + 0){}; row < rows; ++row) {
            for (auto column = decltype(columns + 0){}; column < columns; ++column) {
                *to++ = values(row, column);
            }
        }
    } else {
        hold(std::ranges::size(values));
        element_type* to = elements_.get();
        for (const auto& value : values) {
            *to++ = element_type(value);
        }
    }
}

template <copied_values V>
void detail::values_copy<V>::hold(std::size_t count) {
    count_ = count;
    elements_ = std::make_unique<element_type[]>(count);
}

}  // namespace v1
}  // namespace smdebug
