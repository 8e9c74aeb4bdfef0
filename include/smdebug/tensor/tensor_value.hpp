// A tensor that owns its elements: it shares the file's bytes if they are aligned, else copies them.
// A decoder's output borrows from its input; users may keep this.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/other_dtype.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace smdebug::inline v1 {

/// The alignment of memory that a tensor_value allocates: a cache line, and the widest vector register.
inline constexpr std::size_t element_alignment = 64;

/// `size` bytes aligned to element_alignment, uninitialised; null for 0.
[[nodiscard]] std::shared_ptr<std::byte> allocate_elements(std::size_t size);

namespace detail {

/// See element_array: <smdebug/xtensor.hpp> specialises it for every element type.
template <class Element>
struct array_of {
    static_assert(sizeof(Element) == 0,
                  "value<T>() returns an xtensor expression: include <smdebug/xtensor.hpp>, or take a span: "
                  "value(step).elements<T>()");
    using type = void;
};

}  // namespace detail

/// What a tensor's value<Element>() returns: an xtensor expression, with <smdebug/xtensor.hpp>.
template <class Element>
using element_array = typename detail::array_of<Element>::type;

/// A tensor of any dtype, read-only, together with the owner of its elements.
/// Copying shares everything and costs one reference count; const calls may run concurrently on many threads.
/// A default-constructed value has dtype `invalid` and no elements.
class tensor_value {
public:
    tensor_value() = default;

    /// Takes a decoder's output `decoded`; moves only its shape and owner.  `record` holds the decoded bytes; its
    /// owner, if any, keeps them alive.
    /// Shares elements that lie in these bytes, or in memory of decoded.owner, aligned for their type; otherwise, and
    /// if `record` has no owner, they are copied once, to aligned memory.  Strings are always copied.
    tensor_value(decoded_tensor&& decoded, const byte_buffer& record);

    /// Elements in memory that `owner` keeps alive, aligned for `type`, which is numeric; `bytes` is exactly as long as
    /// `shape` and `type` require.
    tensor_value(dtype type, shape_type shape, std::shared_ptr<const void> owner, byte_view bytes);

    /// A copy of `elements`, as many as `shape` requires.
    template <element Element>
    [[nodiscard]] static tensor_value copy_of(shape_type shape, std::span<const Element> elements) {
        assert(element_count(shape) == elements.size());
        return copy_of_bytes(dtype_of_v<Element>, std::move(shape), std::as_bytes(elements));
    }

    /// A tensor of strings, as many as `shape` requires.
    [[nodiscard]] static tensor_value of_strings(shape_type shape, std::span<const std::string_view> strings);

    [[nodiscard]] dtype type() const noexcept { return seen().type; }
    /// The number of elements.
    [[nodiscard]] std::size_t size() const noexcept { return seen().count(); }

    // Views: they live as long as this value or a copy of it, so a temporary does not give any.  Keep it in a variable:
    //     const auto weights = run.tensor("w").value(0);
    //     for (const float x : weights.elements<float>()) ...

    /// Extents, outermost first.
    [[nodiscard]] const shape_type& shape() const& noexcept;
    const shape_type& shape() const&& = delete;  // keep the value in a variable first

    /// The elements as bytes, aligned for their type; empty for strings.
    [[nodiscard]] byte_view bytes() const& noexcept { return seen().bytes; }
    byte_view bytes() const&& = delete;  // keep the value in a variable first

    /// The strings of a string tensor; empty for any other.
    [[nodiscard]] std::span<const std::string> strings() const& noexcept {
        return state_ ? std::span<const std::string>{state_->strings} : std::span<const std::string>{};
    }
    std::span<const std::string> strings() const&& = delete;  // keep the value in a variable first

    /// The elements in C order.  Errors: wrong_dtype unless Element is exactly the type of the dtype: for another one,
    /// see converted().
    template <element Element>
    [[nodiscard]] std::span<const Element> elements() const& {
        if (dtype_of_v<Element> != type()) {
            detail::throw_other_dtype(type(), dtype_of_v<Element>);
        }
        return {reinterpret_cast<const Element*>(bytes().data()), bytes().size() / sizeof(Element)};
    }
    template <element Element>
    std::span<const Element> elements() const&& = delete;  // keep the value in a variable first

    /// This tensor as a tensor_view, for reduction kernels.
    [[nodiscard]] tensor_view view() const& noexcept { return seen(); }
    tensor_view view() const&& = delete;  // keep the value in a variable first

    /// This tensor as the argument of a call that takes a const tensor_view&: a temporary outlives the call.  A
    /// tensor_view made of a temporary would not, and does not compile: keep the value in a variable first.
    operator const tensor_view&() const noexcept { return seen(); }  // NOLINT: implicit, as of a string to its view
    operator tensor_view() const&& = delete;                         // NOLINT: the better one of two for a copy

    /// The owner of bytes(): the file's bytes if they are shared; null if there are no bytes.
    [[nodiscard]] std::shared_ptr<const void> owner() const noexcept { return state_ ? state_->owner : nullptr; }

    /// Whether elements were copied when this value was made.
    [[nodiscard]] bool copied() const noexcept { return state_ && state_->copied; }

private:
    struct state {
        shape_type shape;
        std::shared_ptr<const void> owner;
        std::vector<std::string> strings;
        std::vector<std::string_view> string_views;  ///< into `strings`
        tensor_view view;                            ///< of the above
        bool copied = false;

        state(dtype type, shape_type&& extents) noexcept : shape(std::move(extents)), view{type, shape, {}, {}} {}
        void copy(byte_view source);

        void take_strings(std::span<const std::string_view> views);
    };

    explicit tensor_value(std::shared_ptr<const state> made) noexcept : state_(std::move(made)) {}

    [[nodiscard]] const tensor_view& seen() const noexcept;

    [[nodiscard]] static tensor_value copy_of_bytes(dtype type, shape_type shape, byte_view elements);

    [[nodiscard]] static bool is_aligned(byte_view bytes, dtype type) noexcept;

    [[nodiscard]] static bool lies_in(byte_view whole, byte_view bytes) noexcept;

    std::shared_ptr<const state> state_;
};

// From one dtype to another, element by element, without undefined behaviour.
// Viewing elements in their own type is free; this is for code that needs one type for all tensors.
namespace detail {

template <class Element>
inline constexpr bool is_complex_v = false;
template <class Element>
inline constexpr bool is_complex_v<std::complex<Element>> = true;

/// Truncates `value` to an integer; false if it does not fit in To's range (including NaN and infinities).
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

/// Converts one real number or boolean to another real type; false if it does not fit.
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

/// As convert_real, also for complex numbers.  Complex to real does not fit, complex to bool does.
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

/// `tensor` with elements of type Element.  If they already have that type, it is `tensor` itself, shared.
///  - to an integer: fractions are truncated, as by a cast; an element out of range, a NaN and an infinity do not fit;
///  - to a float: the nearest, ties to even, infinity beyond the range, as numpy does; NaN if the type has no
///    infinities (float8_e4m3fn), as ml_dtypes does;
///  - to bool: whether the element differs from zero, so NaN is true;
///  - to a complex type: the imaginary part of a real is 0; from one: only to bool or complex, as nothing else has an
///    obvious meaning.
/// Errors:  unsupported if some element does not fit, for complex to real, and for strings.
/// Cost:    one pass and one allocation if the type differs.
template <element Element>
[[nodiscard]] result<tensor_value> converted(const tensor_value& tensor) {
    if (tensor.type() == dtype_of_v<Element>) {
        return tensor;
    }
    if (!is_numeric(tensor.type()) ||
        (is_complex(tensor.type()) && !detail::is_complex_v<Element> && !std::same_as<Element, bool>)) {
        return status::unsupported;
    }
    const std::size_t size = tensor.size() * sizeof(Element);
    const std::shared_ptr<std::byte> block = allocate_elements(size);
    const bool fits = visit_dtype(tensor.type(), [&]<class From>() {
        return detail::convert_all<Element, From>(tensor.elements<From>(), reinterpret_cast<Element*>(block.get()));
    });
    if (!fits) {
        return status::unsupported;
    }
    return tensor_value{dtype_of_v<Element>, tensor.shape(), block, byte_view{block.get(), size}};
}

// The elements of a tensor as doubles, for every real type.

/// Whether the elements are real numbers or booleans: neither complex nor strings.
[[nodiscard]] constexpr bool has_reals(dtype type) noexcept { return is_numeric(type) && !is_complex(type); }

/// A real element as a double; 64-bit integers are rounded.
template <class Element>
[[nodiscard]] constexpr double to_double(Element value) noexcept {
    if constexpr (detail::narrow_float<Element>) {
        return static_cast<double>(static_cast<float>(value));
    } else {
        return static_cast<double>(value);
    }
}

/// Calls visit(std::span<const Element>) with the elements, in their own type Element.  Returns whether the tensor is
/// real.
template <class Visit>
bool visit_reals(const tensor_value& tensor, Visit&& visit) {
    if (!has_reals(tensor.type())) {
        return false;
    }
    visit_dtype(tensor.type(), [&]<class Element>() {
        if constexpr (!requires { typename Element::value_type; }) {  // not complex
            visit(tensor.elements<Element>());
        }
    });
    return true;
}

/// Elements [begin, begin + count) of a tensor of Element: in place if aligned, else copied into `room`.
template <element Element>
[[nodiscard]] std::span<const Element> aligned_elements(const tensor_view& tensor, std::size_t begin, std::size_t count,
                                                        std::vector<std::byte>& room) {
    const std::byte* const from = tensor.bytes.data() + begin * sizeof(Element);
    if (reinterpret_cast<std::uintptr_t>(from) % alignof(Element) == 0) {
        return {reinterpret_cast<const Element*>(from), count};
    }
    room.resize(std::max(room.size(), count * sizeof(Element)));
    std::memcpy(room.data(), from, count * sizeof(Element));
    return {reinterpret_cast<const Element*>(room.data()), count};
}

/// Calls visit(std::span<const Element>) with the elements, in their own type Element and in C order, some thousand at
/// a time, until it returns false.  Returns whether the tensor is real.
template <class Visit>
bool for_each_real_block(const tensor_view& tensor, Visit&& visit) {
    if (!has_reals(tensor.type)) {
        return false;
    }
    visit_dtype(tensor.type, [&]<class Element>() {
        if constexpr (!requires { typename Element::value_type; }) {  // not complex
            constexpr std::size_t block = 4096;
            alignas(Element) std::array<std::byte, block * sizeof(Element)> room;
            const std::size_t count = tensor.bytes.size() / sizeof(Element);
            for (std::size_t begin = 0; begin < count; begin += block) {
                const std::size_t size = std::min(block, count - begin);
                const std::byte* from = tensor.bytes.data() + begin * sizeof(Element);
                if (reinterpret_cast<std::uintptr_t>(from) % alignof(Element) != 0) {
                    std::memcpy(room.data(), from, size * sizeof(Element));
                    from = room.data();
                }
                if (!visit(std::span<const Element>{reinterpret_cast<const Element*>(from), size})) {
                    return;
                }
            }
        }
    });
    return true;
}

/// The elements as doubles, in C order; empty for complex numbers and strings.
[[nodiscard]] std::vector<double> reals_of(const tensor_value& tensor);

}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/tensor_value.ipp>
#endif
