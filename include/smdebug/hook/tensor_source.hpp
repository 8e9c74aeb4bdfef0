// Tensors of a training loop as tensor_views: spans and vectors with a shape, numbers, texts.
// Nothing is copied; xtensor expressions are in tensor/view_of_xtensor.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/iterable.hpp>
#include <smdebug/tensor/element.hpp>
#include <smdebug/tensor/flat_elements.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// An integer type for extents: int, std::int64_t, ...
template <class I>
concept extent_number = std::integral<I> && saved_element<I> && !std::same_as<I, bool>;

/// The extents of a tensor as a parameter: `{3, 4}`, `{rows, columns}`, a shape_type, any contiguous list of integers
/// (as frameworks have them).  Borrows: a list of std::size_t or std::int64_t, for the call; keeps others.
class extents_view {
public:
    extents_view(std::initializer_list<std::size_t> list) noexcept  // NOLINT: implicit
        : extents_(list.begin(), list.size()) {}
    template <extent_number I>
    extents_view(std::initializer_list<I> list)  // NOLINT: implicit
        : extents_view(std::span<const I>{list.begin(), list.size()}) {}
    template <class List>
        requires(detail::contiguous_iterable<const List&> && detail::sized_iterable<const List&> &&
                 extent_number<std::remove_cv_t<detail::value_in<const List&>>>)
    extents_view(const List& list) {  // NOLINT: implicit
        using number = std::remove_cv_t<detail::value_in<const List&>>;
        const std::size_t count = std::ranges::size(list);
        if constexpr (std::same_as<std::make_unsigned_t<number>, std::size_t>) {
            // A signed and an unsigned integer of one size may alias; a negative extent becomes
            // one that is_shape_of refuses.
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
    std::array<std::size_t, 8> few_ = {};  // without an allocation: more are rare
    std::vector<std::size_t> many_ = {};
};

namespace detail {

[[nodiscard]] std::string extents_text(std::span<const std::size_t> extents);

/// Whether extents fit the int64 of files, and make that many elements.
[[nodiscard]] bool is_shape_of(std::span<const std::size_t> extents, std::size_t count) noexcept;

}  // namespace detail

/// Errors: value_error where `extents` do not make as many elements as `values` has.
/// Borrows: both.
template <element_range R>
[[nodiscard]] tensor_view view_of(const R& values, std::span<const std::size_t> extents, std::string_view name) {
    using value_type = std::remove_cv_t<detail::value_in<const R&>>;
    const std::span<const value_type> elements{std::ranges::data(values), std::ranges::size(values)};
    if (!detail::is_shape_of(extents, elements.size())) {
        throw value_error("the tensor \"" + std::string{name} + "\" has " + std::to_string(elements.size()) +
                              " elements, which the shape " + detail::extents_text(extents) + " does not fit",
                          {.tensor = std::string{name}});
    }
    return {.type = saved_dtype_v<value_type>, .shape = extents, .bytes = std::as_bytes(elements), .strings = {}};
}

/// The same for texts.
[[nodiscard]] tensor_view view_of(std::span<const std::string_view> texts, std::span<const std::size_t> extents,
                                  std::string_view name);

/// Errors: value_error for a view whose elements and shape do not belong together, or that has no type.
void check(const tensor_view& tensor, std::string_view name);

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/tensor_source.ipp>
#endif
