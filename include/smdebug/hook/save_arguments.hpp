// Arguments of save_tensor besides contiguous elements: single numbers, bits, matrices, texts, lists of names.
// What cannot be saved is refused where it is written, in a sentence that says what to write.
#pragma once

#include <smdebug/core/iterable.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/hook/tensor_source.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Several texts: std::vector<std::string>, std::array<std::string_view, 3>, ...
template <class R>
concept text_range = detail::input_iterable<const R&> && detail::sized_iterable<const R&> &&
                     std::convertible_to<detail::reference_in<const R&>, std::string_view> &&
                     !std::convertible_to<const R&, std::string_view>;

/// Collections by their names, as a parameter: `{"mine"}`, "mine", a std::vector<std::string>.
/// Borrows: the texts, for the call.
class collection_names {
public:
    collection_names() = default;
    collection_names(std::initializer_list<std::string_view> names) noexcept  // NOLINT: implicit
        : listed_(names.begin(), names.size()) {}
    template <text_range Names>
    collection_names(const Names& names) {  // NOLINT: implicit
        for (const auto& name : names) {
            copied_.emplace_back(name);
        }
    }
    template <std::convertible_to<std::string_view> Name>
    collection_names(const Name& name) : copied_{std::string_view{name}} {}  // NOLINT: implicit

    [[nodiscard]] std::span<const std::string_view> get() const noexcept {
        return copied_.empty() ? listed_ : std::span<const std::string_view>{copied_};
    }

private:
    std::span<const std::string_view> listed_ = {};
    std::vector<std::string_view> copied_ = {};
};

/// A std::vector<bool>, whose elements have no memory of their own.
template <class R>
concept bit_range = detail::random_access_iterable<const R&> && !detail::contiguous_iterable<const R&> &&
                    std::same_as<R, std::vector<bool, typename R::allocator_type>>;

/// Values of which a copy is saved, row by row.
template <class V>
concept copied_values = bit_range<V> || element_matrix<V> || text_range<V>;

/// The values' own shape: {rows, columns} of a matrix, else {count}.
template <copied_values V>
[[nodiscard]] shape_type shape_of(const V& values) {
    if constexpr (element_matrix<V>) {
        const auto rows = static_cast<std::size_t>(values.rows());
        const auto columns = static_cast<std::size_t>(values.cols());
        if constexpr (requires { requires static_cast<bool>(V::IsVectorAtCompileTime); }) {
            return {rows * columns};
        } else {
            return {rows, columns};
        }
    } else {
        return {std::ranges::size(values)};
    }
}

namespace detail {

template <class V>
[[nodiscard]] consteval auto copied_element() {
    if constexpr (element_matrix<V>) {
        return std::type_identity<typename V::Scalar>{};
    } else if constexpr (text_range<V>) {
        return std::type_identity<std::string_view>{};
    } else {
        return std::type_identity<bool>{};
    }
}

/// A copy of values, and a view of it.
template <copied_values V>
class values_copy {
public:
    explicit values_copy(const V& values);

    /// Errors: value_error where `extents` do not make as many elements.  Borrows: this, and the extents.
    [[nodiscard]] tensor_view view(std::span<const std::size_t> extents, std::string_view name) const {
        return view_of(std::span<const element_type>{elements_.get(), count_}, extents, name);
    }

private:
    using element_type = typename decltype(detail::copied_element<V>())::type;

    // Not a vector: that of bool has no elements to point at.
    void hold(std::size_t count);

    std::size_t count_ = 0;
    std::unique_ptr<element_type[]> elements_;
};

// Values that may need a shape: braces behind a tensor_view are collections, empty ones, too.
template <class V>
concept unviewed = !std::same_as<V, tensor_view>;

template <class V>
inline constexpr bool holds_char = false;
template <detail::iterable V>
inline constexpr bool holds_char<V> =
    std::same_as<std::remove_cv_t<detail::value_in<V>>, char> || std::convertible_to<const V&, std::string_view>;
template <class V>
inline constexpr bool holds_lists = false;
template <detail::iterable V>
inline constexpr bool holds_lists<V> = detail::iterable<detail::value_in<V>>;
template <class V>
inline constexpr bool lies_scattered = false;
template <detail::iterable V>
inline constexpr bool lies_scattered<V> =
    !detail::contiguous_iterable<V> && saved_element<std::remove_cv_t<detail::value_in<V>>>;

// Values that no tensor can be made of.  Common mistakes have messages of their own.
template <class V>
constexpr void refuse_values() {
    constexpr bool text = holds_char<V> || std::convertible_to<const V&, std::string_view>;
    constexpr bool pointer = std::is_pointer_v<V> && !text;
    static_assert(!text,
                  "save_tensor: char is no element of a tensor: save numbers as std::int8_t or std::uint8_t, "
                  "a text as std::vector<std::string>{text}");
    static_assert(!pointer, "save_tensor: a pointer has no number of elements: write std::span(pointer, count)");
    static_assert(text || !holds_lists<V>,
                  "save_tensor: a list of lists has no shape: put the elements, row by row, into one std::vector, and "
                  "write save_tensor(name, values, {rows, columns})");
    static_assert(!lies_scattered<V>,
                  "save_tensor: the elements do not lie one after another: copy them into a std::vector");
    static_assert(text || pointer || holds_lists<V> || lies_scattered<V>,
                  "save_tensor: no element of a tensor is of this type: write a std::vector or std::span of float, "
                  "double, integers, bool or std::complex, an xtensor expression, an evaluated Eigen matrix");
}

}  // namespace detail

// In both forms: V is the caller's type.

template <copied_values V>
detail::values_copy<V>::values_copy(const V& values) {
    if constexpr (element_matrix<V>) {
        hold(static_cast<std::size_t>(values.rows()) * static_cast<std::size_t>(values.cols()));
        copy_rows(values, elements_.get());
    } else {
        hold(std::ranges::size(values));
        element_type* to = elements_.get();
        for (const auto& value : values) {
            *to++ = element_type(value);
        }
    }
}

template <copied_values V>
void detail::values_copy<V>::hold(std::size_t count) {
    count_ = count;
    elements_ = std::make_unique<element_type[]>(count);
}

}  // namespace v1
}  // namespace smdebug
