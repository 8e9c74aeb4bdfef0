// The C++ type of the elements of each dtype, and the step from a dtype known at run time to that type.
// Decoders, conversions and kernels reach the type through visit_dtype; what else a new dtype needs is listed in
// CONTRIBUTING.md, "A dtype".
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/tensor/half.hpp>

#include <cassert>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1 {

/// The dtype whose elements are of type Element; `invalid` for any other Element.
template <class Element>
inline constexpr dtype dtype_of_v = dtype::invalid;
template <>
inline constexpr dtype dtype_of_v<float16> = dtype::float16;
template <>
inline constexpr dtype dtype_of_v<bfloat16> = dtype::bfloat16;
template <>
inline constexpr dtype dtype_of_v<float8_e4m3fn> = dtype::float8_e4m3fn;
template <>
inline constexpr dtype dtype_of_v<float8_e5m2> = dtype::float8_e5m2;
template <>
inline constexpr dtype dtype_of_v<float> = dtype::float32;
template <>
inline constexpr dtype dtype_of_v<double> = dtype::float64;
template <>
inline constexpr dtype dtype_of_v<std::int8_t> = dtype::int8;
template <>
inline constexpr dtype dtype_of_v<std::int16_t> = dtype::int16;
template <>
inline constexpr dtype dtype_of_v<std::int32_t> = dtype::int32;
template <>
inline constexpr dtype dtype_of_v<std::int64_t> = dtype::int64;
template <>
inline constexpr dtype dtype_of_v<std::uint8_t> = dtype::uint8;
template <>
inline constexpr dtype dtype_of_v<std::uint16_t> = dtype::uint16;
template <>
inline constexpr dtype dtype_of_v<std::uint32_t> = dtype::uint32;
template <>
inline constexpr dtype dtype_of_v<std::uint64_t> = dtype::uint64;
template <>
inline constexpr dtype dtype_of_v<bool> = dtype::boolean;
template <>
inline constexpr dtype dtype_of_v<std::complex<float>> = dtype::complex64;
template <>
inline constexpr dtype dtype_of_v<std::complex<double>> = dtype::complex128;

/// An element type of tensors: exactly that type, without const or reference.
template <class Element>
concept element = dtype_of_v<Element> != dtype::invalid;

namespace detail {

// C++ has more integer types than sizes: on 64-bit Linux `long long` is not std::int64_t, but is accepted like it.  Not
// char and its relatives, whose sign depends on the platform and which may be meant as strings.
template <class Element>
[[nodiscard]] consteval dtype dtype_by_size() {
    if constexpr (element<Element>) {
        return dtype_of_v<Element>;
    } else if constexpr (std::is_integral_v<Element> && (sizeof(Element) == 4 || sizeof(Element) == 8) &&
                         !std::is_same_v<Element, wchar_t> && !std::is_same_v<Element, char32_t>) {
        return std::is_signed_v<Element> ? (sizeof(Element) == 8 ? dtype::int64 : dtype::int32)
                                         : (sizeof(Element) == 8 ? dtype::uint64 : dtype::uint32);
    } else {
        return dtype::invalid;
    }
}

}  // namespace detail

/// The dtype as which numbers of type Element are saved: that of an element type, and for other integers (`long long`)
/// that of their size and sign; `invalid` for any other Element, including char.
template <class Element>
inline constexpr dtype saved_dtype_v = detail::dtype_by_size<Element>();

/// A type whose values can be saved as elements of a tensor.
template <class Element>
concept saved_element = saved_dtype_v<Element> != dtype::invalid;

/// Whether the elements are numbers or booleans: neither strings nor `invalid`.
[[nodiscard]] constexpr bool is_numeric(dtype type) noexcept { return size_of(type) != 0; }

/// Calls `f.template operator()<Element>()` with the element type Element of `type`, and returns its result (of one
/// type for every Element).  `type` must be numeric: anything else asserts, and aborts in any build.
template <class Function>
constexpr decltype(auto) visit_dtype(dtype type, Function&& f) {
    switch (type) {
        case dtype::float16:
            return std::forward<Function>(f).template operator()<float16>();
        case dtype::bfloat16:
            return std::forward<Function>(f).template operator()<bfloat16>();
        case dtype::float8_e4m3fn:
            return std::forward<Function>(f).template operator()<float8_e4m3fn>();
        case dtype::float8_e5m2:
            return std::forward<Function>(f).template operator()<float8_e5m2>();
        case dtype::float32:
            return std::forward<Function>(f).template operator()<float>();
        case dtype::float64:
            return std::forward<Function>(f).template operator()<double>();
        case dtype::int8:
            return std::forward<Function>(f).template operator()<std::int8_t>();
        case dtype::int16:
            return std::forward<Function>(f).template operator()<std::int16_t>();
        case dtype::int32:
            return std::forward<Function>(f).template operator()<std::int32_t>();
        case dtype::int64:
            return std::forward<Function>(f).template operator()<std::int64_t>();
        case dtype::uint8:
            return std::forward<Function>(f).template operator()<std::uint8_t>();
        case dtype::uint16:
            return std::forward<Function>(f).template operator()<std::uint16_t>();
        case dtype::uint32:
            return std::forward<Function>(f).template operator()<std::uint32_t>();
        case dtype::uint64:
            return std::forward<Function>(f).template operator()<std::uint64_t>();
        case dtype::boolean:
            return std::forward<Function>(f).template operator()<bool>();
        case dtype::complex64:
            return std::forward<Function>(f).template operator()<std::complex<float>>();
        case dtype::complex128:
            return std::forward<Function>(f).template operator()<std::complex<double>>();
        case dtype::string:
        case dtype::invalid:
            break;
    }
    assert(false && "visit_dtype: the dtype has no element type; ask is_numeric() first");
    std::abort();
}

/// The alignment that elements of `type` need in memory; 1 for strings and `invalid`.
[[nodiscard]] constexpr std::size_t alignment_of(dtype type) noexcept {
    if (!is_numeric(type)) {
        return 1;
    }
    return visit_dtype(type, []<class Element>() { return alignof(Element); });
}

}  // namespace smdebug::inline v1
#include <smdebug/core/strict_math/end.ipp>
