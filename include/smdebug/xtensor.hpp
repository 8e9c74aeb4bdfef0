// Tensors as xtensor expressions: a hook saves them, trial.tensor(name).value<float>(step) returns them.  The only
// header that includes xtensor: everything else works without, with spans in place of expressions.
// Takes the parts of xtensor from where the installed version keeps them: xtensor/xarray.hpp up to 0.25,
// xtensor/containers/xarray.hpp from 0.26 on.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/hook/tensor_adapter.hpp>
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
#include <string_view>
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

// No copy, and the elements stay alive as long as the expression does.
namespace smdebug::inline v1 {

/// Elements of type Element as an xtensor expression: row-major, of any rank, read-only.  It shares ownership of the
/// elements, so it may outlive the tensor_value, the trial and the file.
template <element Element>
using tensor_array =
    xt::xarray_adaptor<xt::xbuffer_adaptor<const Element*, xt::smart_ownership, std::shared_ptr<const void>>,
                       xt::layout_type::row_major>;

/// `tensor` as an xtensor expression.  Errors: wrong_dtype unless Element is exactly the type of its dtype; see
/// converted() for another one.
/// Shapes: any, including 0-d and empty ones.      Cost: a reference count and the strides; no element is read.
template <element Element>
[[nodiscard]] tensor_array<Element> as_xtensor(const tensor_value& tensor) {
    using buffer_type = typename tensor_array<Element>::storage_type;
    using extents_type = typename tensor_array<Element>::shape_type;
    const std::span<const Element> elements = tensor.elements<Element>();
    return tensor_array<Element>{buffer_type{elements.data(), elements.size(), tensor.owner()},
                                 extents_type(tensor.shape().begin(), tensor.shape().end())};
}

namespace detail {

template <element Element>
struct array_of<Element> {
    using type = tensor_array<Element>;
    [[nodiscard]] static type from(const tensor_value& tensor) { return as_xtensor<Element>(tensor); }
};

/// What a visitor returns, by value; the same for every element type.
template <class Function>
using visited_t = std::decay_t<std::invoke_result_t<Function&, tensor_array<float>>>;

template <class Function>
visited_t<Function> visit_numeric(const tensor_value& tensor, Function& f) {
    return visit_dtype(tensor.type(), [&]<class Element>() -> visited_t<Function> {
        return std::invoke(f, as_xtensor<Element>(tensor));
    });
}

}  // namespace detail

/// Calls `f` with `tensor` as a tensor_array of the type of its dtype, and returns what `f` returns, in a result; only
/// a status if `f` returns nothing.
/// Errors: unsupported, without a call, for strings and for an empty tensor_value.  Throws only what `f` throws.
template <class Function>
auto visit(const tensor_value& tensor, Function&& f) {
    using returned = detail::visited_t<Function>;
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
template <class Function, class OnStrings>
auto visit(const tensor_value& tensor, Function&& f, OnStrings&& on_strings) -> detail::visited_t<Function> {
    if (is_numeric(tensor.type())) {
        return detail::visit_numeric(tensor, f);
    }
    return std::invoke(on_strings, tensor.strings());
}

/// An xtensor expression over a tensor's element type.
template <class Expression>
concept tensor_expression = xt::is_xexpression<Expression>::value && saved_element<typename Expression::value_type>;

/// How a hook saves an expression: with its own shape, evaluated only if it is wanted.
/// Borrows: the expression, if it is a row-major container or adaptor.
template <tensor_expression Expression>
struct tensor_adapter<Expression> {
    using value_type = typename Expression::value_type;

    /// Cost: a copy of the extents; for anything but a row-major container, an evaluation of every element.
    tensor_adapter(const Expression& expression, std::string_view /*name*/)
        : extents_(expression.shape().begin(), expression.shape().end()) {
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

    [[nodiscard]] tensor_view view() const noexcept {
        return {.type = saved_dtype_v<value_type>, .shape = extents_, .bytes = std::as_bytes(elements_), .strings = {}};
    }

private:
    // Arrays, tensors, adaptors; not views of parts of them, whose data() is that of the whole.
    static constexpr bool lies_in_order = std::is_base_of_v<xt::xcontainer<Expression>, Expression> &&
                                          Expression::static_layout == xt::layout_type::row_major;

    shape_type extents_;
    std::unique_ptr<value_type[]> evaluated_;
    std::span<const value_type> elements_;
};

}  // namespace smdebug::inline v1
