// Tensors of one element: losses and other scalars, which a run has by the million.
// The general way would sweep a block, merge sixteen lanes and centre them to find what one look tells.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/reduce/concepts.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/reduce/rounded.hpp>
#include <smdebug/reduce/widen.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <cstddef>
#include <cstring>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace reduce {
namespace detail {

/// The element at `at` as the double nearest to it.
template <class Tag, class Conversion>
[[nodiscard]] inline double element_at(const std::byte* at) noexcept {
    typename Conversion::element element;
    std::memcpy(&element, at, sizeof(element));
    return static_cast<double>(Conversion::template convert<Tag>(element, 1));
}

/// The only element of a tensor of real numbers; nothing where there are more or none, or where it is complex or text.
template <class Tag>
[[nodiscard]] inline std::optional<double> single_element(const tensor_view& tensor) noexcept {
    const std::size_t size = size_of(tensor.type);
    if (size == 0 || tensor.bytes.size() < size || tensor.bytes.size() >= 2 * size) {
        return std::nullopt;
    }
    if (tensor.type == dtype::float32) {  // nearly all of them
        return element_at<Tag, conversion_of<float>>(tensor.bytes.data());
    }
    return visit_dtype(tensor.type, [&]<class T>() -> std::optional<double> {
        if constexpr (requires { typename T::value_type; }) {  // complex
            return std::nullopt;
        } else {
            return element_at<Tag, conversion_of<T>>(tensor.bytes.data());
        }
    });
}

/// Fills in all values of one element, as the definition in lanes.hpp has them: every sum is the element, its spread is 0.
template <class Tag>
inline void values_of_one(double element, reduction_values& out) noexcept {
    const double value = element + 0.0;  // + 0.0 turns -0 into 0
    const double size = magnitude<Tag>(value);
    const bool finite = is_finite<Tag>(value);
    for (std::size_t i = 0; i < reduction_count; ++i) {
        out.value[i] = value;
        out.value[i + reduction_count] = size;
    }
    for (const bool abs : {false, true}) {
        out.value[reduction_key{reduction::std, abs}.index()] = finite ? 0 : not_a_number;
        out.value[reduction_key{reduction::variance, abs}.index()] = finite ? 0 : not_a_number;
    }
    out.value[reduction_key{reduction::l1}.index()] = size;
    out.value[reduction_key{reduction::l2}.index()] = size;
    out.count = 1;
    out.nan = value != value ? 1 : 0;
    out.pos_inf = value == infinity ? 1 : 0;
    out.neg_inf = value == -infinity ? 1 : 0;
    out.zeros = value == 0 ? 1 : 0;
    out.computed = reduction_set::all();
}

}  // namespace detail
}  // namespace reduce
}  // namespace v1
}  // namespace smdebug
