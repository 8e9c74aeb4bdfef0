// What a look-up found, or why nothing, in one expression: a temporary look-up gives no references.
#pragma once

#include <smdebug/trial/lookup.hpp>

namespace smdebug_test {

template <class T>
[[nodiscard]] T value_of(const smdebug::lookup<T>& found) {
    return *found;
}
template <class T>
[[nodiscard]] smdebug::lookup_error failure_of(const smdebug::lookup<T>& found) {
    return found.error();
}

}  // namespace smdebug_test
