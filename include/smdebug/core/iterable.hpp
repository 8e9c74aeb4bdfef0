// Lists of things as a parameter: the concepts of <ranges> that the library uses, by <iterator> alone.  The views in <ranges>
// cost every file that includes it what a tenth of xtensor does.
#pragma once

#include <concepts>
#include <iterator>
#include <type_traits>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// As std::ranges::range.
template <class R>
concept iterable = requires(R& list) {
    std::ranges::begin(list);
    std::ranges::end(list);
};

/// As std::ranges::iterator_t, range_reference_t and range_value_t.
template <iterable R>
using iterator_of = decltype(std::ranges::begin(std::declval<R&>()));
template <iterable R>
using reference_in = std::iter_reference_t<iterator_of<R>>;
template <iterable R>
using value_in = std::iter_value_t<iterator_of<R>>;

/// As std::ranges::input_range and random_access_range.
template <class R>
concept input_iterable = iterable<R> && std::input_iterator<iterator_of<R>>;
template <class R>
concept random_access_iterable = input_iterable<R> && std::random_access_iterator<iterator_of<R>>;

/// As std::ranges::contiguous_range.
template <class R>
concept contiguous_iterable =
    random_access_iterable<R> && std::contiguous_iterator<iterator_of<R>> && requires(R& list) {
        { std::ranges::data(list) } -> std::same_as<std::add_pointer_t<reference_in<R>>>;
    };

/// As std::ranges::sized_range.
template <class R>
concept sized_iterable = iterable<R> && requires(R& list) { std::ranges::size(list); };

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
