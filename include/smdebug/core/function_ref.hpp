// A borrowed callable: a pointer and a thunk, no allocation.
// std::function would copy and may allocate; virtual functions cannot be templates.
#pragma once

#include <concepts>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace smdebug::inline v1 {

template <class Signature>
class function_ref;

/// Refers to a callable for the duration of a call.
/// Takes objects: lambdas, function objects, pointers to functions; not a function by its name.
/// Borrows: the callable; never store a function_ref beyond the call it was passed to.
template <class Returned, class... Args>
class function_ref<Returned(Args...)> {
public:
    template <class Function>
        requires(!std::same_as<std::remove_cvref_t<Function>, function_ref> &&
                 std::is_object_v<std::remove_reference_t<Function>> &&
                 std::is_invocable_r_v<Returned, Function&, Args...>)
    function_ref(Function&& callable) noexcept  // NOLINT: implicit, so that a lambda can be passed
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* object, Args... args) -> Returned {
              auto& target = *static_cast<std::remove_reference_t<Function>*>(object);
              if constexpr (std::is_void_v<Returned>) {
                  std::invoke(target, std::forward<Args>(args)...);
              } else {
                  return std::invoke(target, std::forward<Args>(args)...);
              }
          }) {}

    Returned operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

private:
    void* object_;
    Returned (*call_)(void*, Args...);
};

namespace detail {

/// Calls a visitor. Returns false if the visitor returned false, which stops the caller's iteration; a visitor that
/// returns void never stops it.
template <class Visit, class... Args>
[[nodiscard]] constexpr bool goes_on(Visit&& visit, Args&&... args) {
    if constexpr (std::is_void_v<std::invoke_result_t<Visit&, Args...>>) {
        std::invoke(visit, std::forward<Args>(args)...);
        return true;
    } else {
        return std::invoke(visit, std::forward<Args>(args)...);
    }
}

}  // namespace detail

/// A function_ref for what is called with one thing after another: returns false if the callable did, and wants no
/// more; a callable that returns void takes all.
template <class... Args>
class visitor_ref {
public:
    template <class Function>
        requires(!std::same_as<std::remove_cvref_t<Function>, visitor_ref> &&
                 std::is_object_v<std::remove_reference_t<Function>> && std::is_invocable_v<Function&, Args...>)
    visitor_ref(Function&& callable) noexcept  // NOLINT: implicit, so that a lambda can be passed
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(callable)))),
          call_([](void* object, Args... args) -> bool {
              return detail::goes_on(*static_cast<std::remove_reference_t<Function>*>(object),
                                     std::forward<Args>(args)...);
          }) {}

    [[nodiscard]] bool operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

private:
    void* object_;
    bool (*call_)(void*, Args...);
};

namespace detail {

/// As std::ranges::range.
template <class Range>
concept iterable = requires(Range& list) {
    std::ranges::begin(list);
    std::ranges::end(list);
};

/// As std::ranges::iterator_t, range_reference_t and range_value_t.
template <iterable Range>
using iterator_of = decltype(std::ranges::begin(std::declval<Range&>()));
template <iterable Range>
using reference_in = std::iter_reference_t<iterator_of<Range>>;
template <iterable Range>
using value_in = std::iter_value_t<iterator_of<Range>>;

/// As std::ranges::input_range and random_access_range.
template <class Range>
concept input_iterable = iterable<Range> && std::input_iterator<iterator_of<Range>>;
template <class Range>
concept random_access_iterable = input_iterable<Range> && std::random_access_iterator<iterator_of<Range>>;

/// As std::ranges::contiguous_range.
template <class Range>
concept contiguous_iterable =
    random_access_iterable<Range> && std::contiguous_iterator<iterator_of<Range>> && requires(Range& list) {
        { std::ranges::data(list) } -> std::same_as<std::add_pointer_t<reference_in<Range>>>;
    };

/// As std::ranges::sized_range.
template <class Range>
concept sized_iterable = iterable<Range> && requires(Range& list) { std::ranges::size(list); };

}  // namespace detail
}  // namespace smdebug::inline v1
