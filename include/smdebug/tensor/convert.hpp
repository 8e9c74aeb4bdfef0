// From one dtype to another, element by element, without undefined behaviour.
// A value is shown in its own type for nothing; this is for those who need one type for all tensors.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/float8.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <class T>
inline constexpr bool is_complex_v = false;
template <class T>
inline constexpr bool is_complex_v<std::complex<T>> = true;

/// The integer that `value` is when cut towards zero; false where it has none in To's range (NaN and infinities, too).
template <std::integral To>
[[nodiscard]] bool truncate(double value, To& to) noexcept {
    constexpr int digits = std::numeric_limits<To>::digits;
    const double whole = std::trunc(value);
    const double above = std::ldexp(1.0, digits);  // the first number too large; both bounds are exact
    const double lowest = std::is_signed_v<To> ? -above : 0.0;
    if (!(whole >= lowest && whole < above)) {
        return false;
    }
    to = static_cast<To>(whole);
    return true;
}

/// Converts one real number or boolean to another kind of real number; false where it does not fit.
template <class To, class From>
[[nodiscard]] bool convert_real(From from, To& to) noexcept {
    if constexpr (std::same_as<To, From>) {
        to = from;
    } else if constexpr (narrow_float<From>) {
        return convert_real(static_cast<float>(from), to);
    } else if constexpr (std::same_as<To, bool>) {
        to = from != From{0};
    } else if constexpr (std::integral<To> && std::same_as<From, bool>) {
        to = from ? To{1} : To{0};
    } else if constexpr (std::integral<To> && std::integral<From>) {
        to = static_cast<To>(from);
        return std::in_range<To>(from);
    } else if constexpr (std::integral<To>) {
        return truncate(static_cast<double>(from), to);
    } else if constexpr (std::same_as<To, float> && std::same_as<From, double>) {
        to = nearest_float(from);
    } else {
        to = static_cast<To>(from);
    }
    return true;
}

/// As convert_real, with complex numbers on either side.  Complex to real does not fit, to bool it does.
template <class To, class From>
[[nodiscard]] bool convert_element(const From& from, To& to) noexcept {
    if constexpr (is_complex_v<From> && is_complex_v<To>) {
        typename To::value_type re = 0;
        typename To::value_type im = 0;
        const bool fits = convert_real(from.real(), re) && convert_real(from.imag(), im);
        to = To{re, im};
        return fits;
    } else if constexpr (is_complex_v<From>) {
        if constexpr (std::same_as<To, bool>) {
            to = from != From{};
            return true;
        } else {
            return false;
        }
    } else if constexpr (is_complex_v<To>) {
        typename To::value_type re = 0;
        const bool fits = convert_real(from, re);
        to = To{re};
        return fits;
    } else {
        return convert_real(from, to);
    }
}

template <class To, class From>
[[nodiscard]] bool convert_all(std::span<const From> from, To* to) noexcept {
    for (const From& value : from) {
        if (!convert_element(value, *to++)) {
            return false;
        }
    }
    return true;
}

}  // namespace detail

/// `tensor` with elements of type T.  Where they are of that type already, it is `tensor` itself, shared.
///  - to an integer: fractions are cut off, as by a cast; an element out of range, a NaN and an infinity do not fit;
///  - to a float: the nearest, ties to even, infinity beyond the range, as numpy does; NaN where the type has no
///    infinities (float8_e4m3fn), as ml_dtypes does;
///  - to bool: whether the element differs from zero, so NaN is true;
///  - to a complex type: the imaginary part of a real is 0; from one: only to bool or complex, for there is no one
///    meaning of the rest.
/// Errors:  unsupported where some element does not fit, for complex to real, and for strings.
/// Cost:    one pass and one allocation where the type differs.
template <element T>
[[nodiscard]] result<tensor_value> converted(const tensor_value& tensor) {
    if (tensor.type() == dtype_of_v<T>) {
        return tensor;
    }
    if (!is_numeric(tensor.type()) ||
        (is_complex(tensor.type()) && !detail::is_complex_v<T> && !std::same_as<T, bool>)) {
        return status::unsupported;
    }
    const std::size_t size = tensor.size() * sizeof(T);
    const std::shared_ptr<std::byte> block = allocate_elements(size);
    const bool fits = visit_dtype(tensor.type(), [&]<class From>() {
        return detail::convert_all<T, From>(tensor.elements<From>(), reinterpret_cast<T*>(block.get()));
    });
    if (!fits) {
        return status::unsupported;
    }
    return tensor_value{dtype_of_v<T>, tensor.shape(), block, byte_view{block.get(), size}};
}

}  // namespace v1
}  // namespace smdebug
