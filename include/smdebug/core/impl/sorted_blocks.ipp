// The bodies of <smdebug/core/sorted_blocks.hpp>.
#pragma once

#include <smdebug/core/sorted_blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::vector<std::uint32_t> places_in_order(std::size_t size,
                                                          function_ref<bool(std::size_t a, std::size_t b)> before) {
    std::vector<std::uint32_t> places(size);
    std::iota(places.begin(), places.end(), std::uint32_t{0});
    std::sort(places.begin(), places.end(),
              [before](std::uint32_t a, std::uint32_t b) { return before(a, b) || (a < b && !before(b, a)); });
    return places;
}

}  // namespace smdebug::inline v1::detail
