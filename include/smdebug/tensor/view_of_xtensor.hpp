// xtensor expressions as tensor views: containers where they lie, anything else evaluated first.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/tensor/as_xtensor.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace smdebug {
inline namespace v1 {

/// An xtensor expression whose elements tensors can have.
template <class E>
concept tensor_expression = xt::is_xexpression<E>::value && saved_element<typename E::value_type>;

namespace detail {

/// A view of an expression, and its elements where they had to be evaluated.  Move it, and the view is no more.
/// Borrows: the expression, where it is a row-major container or adaptor.
template <tensor_expression E>
class expression_view {
public:
    using value_type = typename E::value_type;

    /// Cost: a copy of the extents; for anything but a row-major container, an evaluation of every element.
    explicit expression_view(const E& expression) : extents_(expression.shape().begin(), expression.shape().end()) {
        const std::size_t count = expression.size();
        if constexpr (lies_in_order) {
            elements_ = {expression.data() + expression.data_offset(), count};
        } else {
            // Not a vector: that of bool has no elements to point at.
            evaluated_ = std::make_unique_for_overwrite<value_type[]>(count);
            std::copy(expression.template begin<xt::layout_type::row_major>(),
                      expression.template end<xt::layout_type::row_major>(), evaluated_.get());
            elements_ = {evaluated_.get(), count};
        }
    }

    [[nodiscard]] tensor_view get() const noexcept {
        return {.type = saved_dtype_v<value_type>, .shape = extents_, .bytes = std::as_bytes(elements_), .strings = {}};
    }

private:
    // Arrays, tensors, adaptors; not views of parts of them, which have the data of the whole.
    static constexpr bool lies_in_order =
        std::is_base_of_v<xt::xcontainer<E>, E> && E::static_layout == xt::layout_type::row_major;

    shape_type extents_;
    std::unique_ptr<value_type[]> evaluated_;
    std::span<const value_type> elements_;
};

}  // namespace detail

}  // namespace v1
}  // namespace smdebug
