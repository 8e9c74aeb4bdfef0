// The parts of xtensor that the library uses, wherever the installed version keeps them: xtensor/xarray.hpp up to 0.25,
// xtensor/containers/xarray.hpp from 0.26 on.  The only header that includes xtensor, which is heavy to compile: code
// that needs only bytes avoids it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xbuffer_adaptor.hpp>
#include <xtensor/core/xlayout.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xbuffer_adaptor.hpp>
#include <xtensor/xlayout.hpp>
#endif

// Tensors as xtensor expressions: no copy, and the elements stay alive as long as the expression does.
namespace smdebug::inline v1 {

/// Elements of type T as an xtensor expression: row-major, of any rank, read-only.  It shares ownership of the
/// elements, so it may outlive the tensor_value, the trial and the file.
template <element T>
using tensor_array = xt::xarray_adaptor<xt::xbuffer_adaptor<const T*, xt::smart_ownership, std::shared_ptr<const void>>,
                                        xt::layout_type::row_major>;

/// `tensor` as an xtensor expression.  Errors: type_error unless T is exactly the type of its dtype; see converted()
/// for another one.
/// Shapes: any, including 0-d and empty ones.      Cost: a reference count and the strides; no element is read.
template <element T>
[[nodiscard]] tensor_array<T> as_xtensor(const tensor_value& tensor) {
    using buffer_type = typename tensor_array<T>::storage_type;
    using extents_type = typename tensor_array<T>::shape_type;
    const std::span<const T> elements = tensor.elements<T>();
    return tensor_array<T>{buffer_type{elements.data(), elements.size(), tensor.owner()},
                           extents_type(tensor.shape().begin(), tensor.shape().end())};
}

namespace detail {

/// What a visitor returns, by value; the same for every element type.
template <class F>
using visited_t = std::decay_t<std::invoke_result_t<F&, tensor_array<float>>>;

template <class F>
visited_t<F> visit_numeric(const tensor_value& tensor, F& f) {
    return visit_dtype(tensor.type(), [&]<class T>() -> visited_t<F> { return std::invoke(f, as_xtensor<T>(tensor)); });
}

}  // namespace detail

/// Calls `f` with `tensor` as a tensor_array of the type of its dtype, and returns what `f` returns, in a result; only
/// a status if `f` returns nothing.
/// Errors: unsupported, without a call, for strings and for an empty tensor_value.  Throws only what `f` throws.
template <class F>
auto visit(const tensor_value& tensor, F&& f) {
    using returned = detail::visited_t<F>;
    if constexpr (std::is_void_v<returned>) {
        if (!is_numeric(tensor.type())) {
            return status::unsupported;
        }
        detail::visit_numeric(tensor, f);
        return status::ok;
    } else {
        return is_numeric(tensor.type()) ? result<returned>{detail::visit_numeric(tensor, f)}
                                         : result<returned>{status::unsupported};
    }
}

/// As above, but complete: a tensor of strings is passed to `on_strings`, as std::span<const std::string> (empty for an
/// empty tensor_value).  Two callables, so that a generic lambda for the numeric types never gets strings.
template <class F, class G>
auto visit(const tensor_value& tensor, F&& f, G&& on_strings) -> detail::visited_t<F> {
    if (is_numeric(tensor.type())) {
        return detail::visit_numeric(tensor, f);
    }
    return std::invoke(on_strings, tensor.strings());
}

// xtensor expressions as tensor views: containers in place, anything else evaluated first.

/// An xtensor expression over a tensor's element type.
template <class E>
concept tensor_expression = xt::is_xexpression<E>::value && saved_element<typename E::value_type>;

namespace detail {

/// A view of an expression, and its elements if they had to be evaluated.  Moving it invalidates the view.
/// Borrows: the expression, if it is a row-major container or adaptor.
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
            // Not a vector: std::vector<bool> has no elements to point at.
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
    // Arrays, tensors, adaptors; not views of parts of them, whose data() is that of the whole.
    static constexpr bool lies_in_order =
        std::is_base_of_v<xt::xcontainer<E>, E> && E::static_layout == xt::layout_type::row_major;

    shape_type extents_;
    std::unique_ptr<value_type[]> evaluated_;
    std::span<const value_type> elements_;
};

}  // namespace detail

}  // namespace smdebug::inline v1
