// The bodies of <smdebug/rules/judge/layer_activity.hpp> that are templates.
#pragma once

#include <smdebug/rules/judge/layer_activity.hpp>

namespace smdebug {
inline namespace v1 {
namespace rules {
namespace detail {

template <class T>
activity_test<T>::activity_test(const active_range& range) noexcept
    : above_(largest_not_above<limit>(range.above)),
      last_(range.below ? largest_not_above<limit>(std::nextafter(*range.below, -infinity)) : infinity_of_limit) {}

template <class T>
bool activity_test<T>::operator()(T value) const noexcept {
    const auto number = static_cast<limit>(value);
    return (number > above_) & (number <= last_);
}

}  // namespace detail
}  // namespace rules
}  // namespace v1
}  // namespace smdebug
