// Tensors as xtensor expressions: no copy, and the elements stay alive as long as the expression does.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_value.hpp>
#include <smdebug/tensor/xtensor_adapter.hpp>

#include <cassert>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace smdebug {
inline namespace v1 {

/// Elements of type T as an xtensor expression: row-major, of any rank, read-only.  It shares what keeps the elements
/// alive, so it may outlive the tensor_value, the trial and the file.
template <element T>
using tensor_array = xt::xarray_adaptor<xt::xbuffer_adaptor<const T*, xt::smart_ownership, std::shared_ptr<const void>>,
                                        xt::layout_type::row_major>;

/// `tensor` as an xtensor expression.  Errors: type_error where T is not exactly the type of its dtype; see converted()
/// for another one.
/// Shapes: any, 0-d and empty ones, too.      Cost: a reference count and the strides; no element is touched.
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

/// Calls `f` with `tensor` as a tensor_array of the type that its dtype names, and returns what `f` returns, in a
/// result; only a status where `f` returns nothing.
/// Errors: unsupported, without a call, for strings and for an empty tensor_value.  Nothing is thrown but by `f`.
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

/// As above, and complete: a tensor of strings goes to `on_strings`, as std::span<const std::string> (empty for an
/// empty tensor_value).  Two callables, so that a generic lambda for the numeric types never meets strings.
template <class F, class G>
auto visit(const tensor_value& tensor, F&& f, G&& on_strings) -> detail::visited_t<F> {
    if (is_numeric(tensor.type())) {
        return detail::visit_numeric(tensor, f);
    }
    return std::invoke(on_strings, tensor.strings());
}

}  // namespace v1
}  // namespace smdebug
