// The bodies of <smdebug/reduce/element_differences.hpp>.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/float_kinds.hpp>
#include <smdebug/reduce/element_differences.hpp>
#include <smdebug/reduce/subnormals.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/half.hpp>
#include <smdebug/tensor/tensor_value.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <smdebug/core/strict_math/begin.ipp>
namespace smdebug::inline v1::reduce::detail {

template <class Element>
[[nodiscard]] Element loaded(const std::byte* from) noexcept {
    Element value;
    std::memcpy(&value, from, sizeof(Element));
    return value;
}
template <>
[[nodiscard]] inline bool loaded<bool>(const std::byte* from) noexcept {
    return *from != std::byte{0};
}

/// The type in which distances are computed: the element's own, except for the narrow floats.
template <class Element>
[[nodiscard]] auto computable(Element value) noexcept {
    if constexpr (smdebug::detail::narrow_float<Element>) {
        return static_cast<double>(static_cast<float>(value));
    } else if constexpr (std::same_as<Element, float>) {
        return static_cast<double>(value);
    } else if constexpr (requires { value.imag(); }) {
        return std::complex<double>{value};
    } else {
        return value;
    }
}

template <class Element>
[[nodiscard]] bool is_nan(const Element& value) noexcept {
    if constexpr (requires { value.imag(); }) {
        return smdebug::is_nan(value.real()) || smdebug::is_nan(value.imag());
    } else if constexpr (std::floating_point<Element>) {
        return smdebug::is_nan(value);
    } else {
        return false;
    }
}

/// |a - b| as element_comparison::largest() has it.
template <class Element>
[[nodiscard]] double distance_of(const Element& a, const Element& b) noexcept {
    if constexpr (std::same_as<Element, bool>) {
        return a == b ? 0 : 1;
    } else if constexpr (std::integral<Element>) {
        using wide = std::uint64_t;
        return static_cast<double>(a < b ? static_cast<wide>(b) - static_cast<wide>(a)
                                         : static_cast<wide>(a) - static_cast<wide>(b));
    } else {
        if (a == b || (is_nan(a) && is_nan(b))) {
            return 0;
        }
        const double apart = std::abs(a - b);
        return smdebug::is_nan(apart) ? std::numeric_limits<double>::infinity() : apart;
    }
}

template <class Element>
[[nodiscard]] double magnitude_of(const Element& value) noexcept {
    if constexpr (requires { value.imag(); }) {
        return std::abs(value);
    } else {
        return std::abs(static_cast<double>(value));
    }
}

/// NumPy's isclose for two elements, with equal_nan.
template <class Element>
[[nodiscard]] bool is_close(const Element& value, const Element& reference, const tolerance& within) noexcept {
    if constexpr (requires { value.imag(); }) {
        const double apart = std::abs(value - reference);
        return value == reference || (apart <= within.allowed(magnitude_of(reference)) && smdebug::is_finite(apart)) ||
               (is_nan(value) && is_nan(reference));
    } else {
        const tolerance with_nan{within.rtol, within.atol, true};
        return with_nan.close(static_cast<double>(value), static_cast<double>(reference));
    }
}

template <class Number>
void append_digits(std::string& out, Number value) {
    if constexpr (std::floating_point<Number>) {
        if (!smdebug::is_finite(value)) {
            out += smdebug::is_nan(value) ? "NaN" : (value < 0 ? "-Infinity" : "Infinity");
            return;
        }
    }
    char digits[48];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

SMDEBUG_INLINE std::string element_text(dtype type, byte_view element) {
    std::string out;
    visit_dtype(type, [&]<class Element>() {
        const Element value = loaded<Element>(element.data());
        if constexpr (std::same_as<Element, bool>) {
            out = value ? "true" : "false";
        } else if constexpr (smdebug::detail::narrow_float<Element>) {
            append_digits(out, static_cast<float>(value));
        } else if constexpr (requires { value.imag(); }) {
            out = "(";
            append_digits(out, value.real());
            out += ",";
            append_digits(out, value.imag());
            out += ")";
        } else {
            append_digits(out, value);
        }
    });
    return out;
}

SMDEBUG_INLINE std::string element_text(std::string_view element) {
    constexpr std::size_t most = 40;
    std::string out = "\"";
    out.append(element.substr(0, most)).append(element.size() > most ? "...\"" : "\"");
    return out;
}

template <class Element>
void element_comparison::look_at(byte_view first, byte_view second, std::size_t times) {
    for (std::size_t i = 0; i * sizeof(Element) < first.size(); ++i) {
        const std::byte* const a = first.data() + i * sizeof(Element);
        const std::byte* const b = second.data() + i * sizeof(Element);
        if (std::memcmp(a, b, sizeof(Element)) == 0) {
            continue;
        }
        const auto x = computable(loaded<Element>(a));
        const auto y = computable(loaded<Element>(b));
        if (within_ && is_close(x, y, *within_)) {
            continue;
        }
        const auto keep = [&](kept_element& kept) {
            kept.place = elements_ + i;
            std::memcpy(kept.first.data(), a, sizeof(Element));
            std::memcpy(kept.second.data(), b, sizeof(Element));
        };
        if (differing_ == 0) {
            keep(first_);
        }
        differing_ += times;
        const double apart = distance_of(x, y);
        if (!(apart <= largest_)) {
            largest_ = apart;
            keep(farthest_);
        }
        const double magnitude = magnitude_of(y);
        // Only an infinite distance is infinite in relation to an infinity or NaN.
        const double relative = apart == 0 || !smdebug::is_finite(apart) ? apart : apart / magnitude;
        if (!(relative <= largest_relative_)) {
            largest_relative_ = relative;
        }
    }
}

SMDEBUG_INLINE void element_comparison::add(byte_view first, byte_view second) {
    const subnormals_kept here;
    constexpr std::size_t block = std::size_t{4} << 10U;  // of each tensor: a differing block is in L1 when compared
    const std::size_t size = size_of(type_);
    for (std::size_t begin = 0; begin < first.size(); begin += block) {
        const std::size_t length = std::min(block, first.size() - begin);
        if (std::memcmp(first.data() + begin, second.data() + begin, length) != 0) {
            visit_dtype(type_, [&]<class Element>() {
                look_at<Element>(first.subspan(begin, length), second.subspan(begin, length), 1);
            });
        }
        elements_ += length / size;
    }
}

SMDEBUG_INLINE void element_comparison::add_repeated(byte_view first, byte_view second, std::size_t times) {
    if (times > 0) {
        const subnormals_kept here;
        visit_dtype(type_, [&]<class Element>() { look_at<Element>(first, second, times); });
        elements_ += times;
    }
}

SMDEBUG_INLINE void element_comparison::add(std::span<const std::string_view> first,
                                            std::span<const std::string_view> second) {
    for (std::size_t i = 0; i < first.size(); ++i) {
        if (first[i] != second[i] && differing_++ == 0) {
            first_string_ = {elements_ + i, element_text(first[i]), element_text(second[i])};
        }
    }
    elements_ += first.size();
}

SMDEBUG_INLINE differing_element element_comparison::text_of(const kept_element& kept) const {
    const std::size_t size = size_of(type_);
    return {kept.place, element_text(type_, byte_view{kept.first}.first(size)),
            element_text(type_, byte_view{kept.second}.first(size))};
}

SMDEBUG_INLINE std::optional<differing_element> element_comparison::first() const {
    if (differing_ == 0) {
        return std::nullopt;
    }
    return type_ == dtype::string ? first_string_ : text_of(first_);
}

SMDEBUG_INLINE std::optional<differing_element> element_comparison::farthest() const {
    return differing_ == 0 || type_ == dtype::string ? std::nullopt : std::optional{text_of(farthest_)};
}

}  // namespace smdebug::inline v1::reduce::detail
#include <smdebug/core/strict_math/end.ipp>
