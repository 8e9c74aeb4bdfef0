// Parameters of save_tensor: shapes, values, collection names, as views where possible, else as copies; types that
// cannot be saved do not compile.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/flat_elements.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
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

namespace smdebug::inline v1 {

/// An integer type for extents: int, std::int64_t, ...
template <class Integer>
concept extent_number = std::integral<Integer> && saved_element<Integer> && !std::same_as<Integer, bool>;

/// The extents of a tensor as a parameter: `{3, 4}`, `{rows, columns}`, a shape_type, or any contiguous list of
/// integers (as frameworks have them).  Borrows: a list of std::size_t or std::int64_t, for the call; copies others.
class extents_view {
public:
    extents_view(std::initializer_list<std::size_t> list) noexcept  // NOLINT: implicit
        : extents_(list.begin(), list.size()) {}
    template <extent_number Integer>
    extents_view(std::initializer_list<Integer> list)  // NOLINT: implicit
        : extents_view(std::span<const Integer>{list.begin(), list.size()}) {}
    template <class List>
        requires(detail::contiguous_iterable<const List&> && detail::sized_iterable<const List&> &&
                 extent_number<std::remove_cv_t<detail::value_in<const List&>>>)
    extents_view(const List& list) {  // NOLINT: implicit
        using number = std::remove_cv_t<detail::value_in<const List&>>;
        const std::size_t count = std::ranges::size(list);
        if constexpr (std::same_as<std::make_unsigned_t<number>, std::size_t>) {
            // Signed and unsigned integers of one size may alias; a negative extent becomes one that check_shape
            // refuses.
            extents_ = {reinterpret_cast<const std::size_t*>(std::ranges::data(list)), count};
        } else {
            std::size_t* const to = count <= few_.size() ? few_.data() : (many_.resize(count), many_.data());
            std::transform(std::ranges::data(list), std::ranges::data(list) + count, to,
                           [](number extent) { return static_cast<std::size_t>(extent); });
            kept_ = count;
        }
    }

    [[nodiscard]] std::span<const std::size_t> get() const noexcept {
        return kept_ == 0 ? extents_ : std::span{many_.empty() ? few_.data() : many_.data(), kept_};
    }

private:
    std::span<const std::size_t> extents_ = {};
    std::size_t kept_ = 0;
    std::array<std::size_t, 8> few_ = {};  // avoids an allocation: more are rare
    std::vector<std::size_t> many_ = {};
};

namespace detail {

/// "(3, 4)".
[[nodiscard]] std::string extents_text(std::span<const std::size_t> extents);

/// Throws value_error unless extents fit the int64 of files, and match that number of `what`: "elements".
void check_shape(std::span<const std::size_t> extents, std::size_t count, const char* what, std::string_view name);

}  // namespace detail

/// Errors: value_error if `extents` do not match the number of `values`.
/// Borrows: both.
template <element_range Range>
[[nodiscard]] tensor_view view_of(const Range& values, std::span<const std::size_t> extents, std::string_view name) {
    using value_type = std::remove_cv_t<detail::value_in<const Range&>>;
    const std::span<const value_type> elements{std::ranges::data(values), std::ranges::size(values)};
    detail::check_shape(extents, elements.size(), "elements", name);
    return {.type = saved_dtype_v<value_type>, .shape = extents, .bytes = std::as_bytes(elements), .strings = {}};
}

/// Views strings as a tensor.  Errors: value_error if `extents` do not match their number.  Borrows: both.
[[nodiscard]] tensor_view view_of(std::span<const std::string_view> texts, std::span<const std::size_t> extents,
                                  std::string_view name);

// The view would outlive temporaries: keep elements and shape in variables first.
template <class Range, class Extents = std::span<const std::size_t>>
    requires(!(std::is_lvalue_reference_v<Range> || std::ranges::enable_borrowed_range<std::remove_cv_t<Range>>) ||
             !(std::is_lvalue_reference_v<Extents> || std::ranges::enable_borrowed_range<std::remove_cv_t<Extents>>))
tensor_view view_of(Range&& values, Extents&& extents, std::string_view name) = delete;

/// Errors: value_error for a view whose elements do not match its shape, or without a type.
void check(const tensor_view& tensor, std::string_view name);

/// Several strings: std::vector<std::string>, std::array<std::string_view, 3>, ...
template <class Range>
concept text_range = detail::input_iterable<const Range&> && detail::sized_iterable<const Range&> &&
                     std::convertible_to<detail::reference_in<const Range&>, std::string_view> &&
                     !std::convertible_to<const Range&, std::string_view>;

/// Collections by their names, as a parameter: `{"mine"}`, "mine", a std::vector<std::string>.
/// Borrows: the strings, for the call.
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

/// A std::vector<bool>, whose elements cannot be viewed in memory.
template <class Range>
concept bit_range = detail::random_access_iterable<const Range&> && !detail::contiguous_iterable<const Range&> &&
                    std::same_as<Range, std::vector<bool, typename Range::allocator_type>>;

/// Values that are saved as a copy, row by row.
template <class Values>
concept copied_values = bit_range<Values> || element_matrix<Values> || text_range<Values>;

/// The values' own shape: {rows, columns} for a matrix, else {count}.
template <copied_values Values>
[[nodiscard]] shape_type shape_of(const Values& values) {
    if constexpr (element_matrix<Values>) {
        const auto rows = static_cast<std::size_t>(values.rows());
        const auto columns = static_cast<std::size_t>(values.cols());
        if constexpr (requires { requires static_cast<bool>(Values::IsVectorAtCompileTime); }) {
            return {rows * columns};
        } else {
            return {rows, columns};
        }
    } else {
        return {std::ranges::size(values)};
    }
}

namespace detail {

template <class Values>
[[nodiscard]] consteval auto copied_element() {
    if constexpr (element_matrix<Values>) {
        return std::type_identity<typename Values::Scalar>{};
    } else if constexpr (text_range<Values>) {
        return std::type_identity<std::string_view>{};
    } else {
        return std::type_identity<bool>{};
    }
}

/// Holds a copy of values, and a view of it.
template <copied_values Values>
class values_copy {
public:
    explicit values_copy(const Values& values);

    /// Errors: value_error if `extents` do not match the number of elements.  Borrows: this, and the extents.
    [[nodiscard]] tensor_view view(std::span<const std::size_t> extents, std::string_view name) const {
        return view_of(std::span<const element_type>{elements_.get(), count_}, extents, name);
    }

private:
    using element_type = typename decltype(detail::copied_element<Values>())::type;

    // Not a vector: std::vector<bool> has no elements to point at.
    void hold(std::size_t count) {
        count_ = count;
        elements_ = std::make_unique<element_type[]>(count);
    }

    std::size_t count_ = 0;
    std::unique_ptr<element_type[]> elements_;
};

// Values that may be followed by a shape: braces after a tensor_view are collections, even empty ones.
template <class Values>
concept unviewed = !std::same_as<Values, tensor_view>;

template <class Values>
inline constexpr bool holds_char = false;
template <detail::iterable Values>
inline constexpr bool holds_char<Values> = std::same_as<std::remove_cv_t<detail::value_in<Values>>, char> ||
                                           std::convertible_to<const Values&, std::string_view>;
template <class Values>
inline constexpr bool holds_lists = false;
template <detail::iterable Values>
inline constexpr bool holds_lists<Values> = detail::iterable<detail::value_in<Values>>;
template <class Values>
inline constexpr bool lies_scattered = false;
template <detail::iterable Values>
inline constexpr bool lies_scattered<Values> =
    !detail::contiguous_iterable<Values> && saved_element<std::remove_cv_t<detail::value_in<Values>>>;

// An array with extents, such as xtensor's: as a list of its elements it would lose them.
template <class Values>
concept shaped_array = requires(const Values& values) {
    values.shape();
    { values.dimension() } -> std::integral;
};

// Values that cannot be a tensor.  Common mistakes have messages of their own.
template <class Values>
constexpr void refuse_values() {
    constexpr bool text = holds_char<Values> || std::convertible_to<const Values&, std::string_view>;
    constexpr bool pointer = std::is_pointer_v<Values> && !text;
    static_assert(!text,
                  "save_tensor: char is not an element type: save numbers as std::int8_t or std::uint8_t, "
                  "a string as std::vector<std::string>{text}");
    static_assert(!pointer, "save_tensor: a pointer has no number of elements: write std::span(pointer, count)");
    static_assert(text || !holds_lists<Values>,
                  "save_tensor: a list of lists has no shape: put the elements, row by row, into one std::vector, and "
                  "write save_tensor(name, values, {rows, columns})");
    static_assert(!lies_scattered<Values>,
                  "save_tensor: the elements do not lie one after another: copy them into a std::vector");
    static_assert(
        text || pointer || holds_lists<Values> || lies_scattered<Values>,
        "save_tensor: elements of this type cannot be saved: write a std::vector or std::span of float, "
        "double, integers, bool or std::complex, an xtensor expression (with <smdebug/xtensor.hpp>), an evaluated "
        "Eigen matrix");
}

}  // namespace detail

// In both forms: Values is the caller's type.

template <copied_values Values>
detail::values_copy<Values>::values_copy(const Values& values) {
    if constexpr (element_matrix<Values>) {
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

namespace detail {

/// Throws value_error for a name that no run can hold: empty, not UTF-8, or containing the mark of a saved reduction's
/// name, at which readers split it anywhere: the Python package could not open the run.
void check_tensor_name(std::string_view name);

}  // namespace detail
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/save_arguments.ipp>
#endif
