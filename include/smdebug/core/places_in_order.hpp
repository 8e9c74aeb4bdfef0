// Sorting what mostly lies in order already, as listings and files that programs write do.
// Apart from std::sort, which compilers make again for each type and order; this is made once.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The places from 0 to before `size`, in the order that before(a, b) has of what lies at them; what is equal stays in the
/// order of its places.
/// Precondition: size is below 2^32.  Errors: what `before` throws.  Cost: an indirect call a comparison.
[[nodiscard]] std::vector<std::uint32_t> places_in_order(std::size_t size,
                                                         function_ref<bool(std::size_t a, std::size_t b)> before);

/// Sorts, and leaves equal elements in the order that they have.
/// Cost: a look at each element where all are in order; else a comparison costs an indirect call, and elements are moved
/// into new memory.
template <class T, class Before>
void sort_stably(std::vector<T>& all, const Before& before) {
    if (std::is_sorted(all.begin(), all.end(), before)) {
        return;
    }
    std::vector<T> sorted;
    sorted.reserve(all.size());
    const auto by_place = [&](std::size_t a, std::size_t b) { return before(all[a], all[b]); };
    for (const std::uint32_t place : places_in_order(all.size(), by_place)) {
        sorted.push_back(std::move(all[place]));
    }
    all = std::move(sorted);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/core/impl/places_in_order.ipp>
#endif
