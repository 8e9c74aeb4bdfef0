// The elements of a tensor as doubles, whatever real type they have.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <concepts>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Whether the elements are real numbers or booleans: neither complex nor strings.
[[nodiscard]] constexpr bool has_reals(dtype type) noexcept { return is_numeric(type) && !is_complex(type); }

/// A real element as a double; 64-bit integers are rounded.
template <class T>
[[nodiscard]] constexpr double to_double(T value) noexcept {
    if constexpr (std::same_as<T, float16> || std::same_as<T, bfloat16>) {
        return static_cast<double>(static_cast<float>(value));
    } else {
        return static_cast<double>(value);
    }
}

/// Calls visit(std::span<const T>) with the elements, of their own type T.  Returns whether there are reals.
template <class Visit>
bool visit_reals(const tensor_value& tensor, Visit&& visit) {
    if (!has_reals(tensor.type())) {
        return false;
    }
    visit_dtype(tensor.type(), [&]<class T>() {
        if constexpr (!requires { typename T::value_type; }) {  // not complex
            visit(tensor.elements<T>());
        }
    });
    return true;
}

/// The elements as doubles, in C order; none for complex numbers and strings.
[[nodiscard]] std::vector<double> reals_of(const tensor_value& tensor);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/reals.ipp>
#endif
