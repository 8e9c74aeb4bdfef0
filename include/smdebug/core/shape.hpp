// A tensor's shape: its extents, and how many elements they make, checked against overflow.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// Extents, outermost first (C order).  No extents: a 0-d tensor, which has one element.
using shape_type = std::vector<std::size_t>;

/// The product of the extents; empty when it does not fit.  A zero extent gives 0, whatever the others are.
[[nodiscard]] constexpr std::optional<std::size_t> element_count(std::span<const std::size_t> extents) noexcept {
    std::size_t count = 1;
    bool overflows = false;
    for (const std::size_t extent : extents) {
        if (extent == 0) {
            return 0;
        }
        overflows = overflows || count > std::numeric_limits<std::size_t>::max() / extent;
        count *= overflows ? 1 : extent;
    }
    return overflows ? std::nullopt : std::optional{count};
}

/// "2x3" for {2, 3}; "" for a 0-d tensor.
[[nodiscard]] inline std::string shape_text(std::span<const std::size_t> extents) {
    std::string text;
    for (const std::size_t extent : extents) {
        if (!text.empty()) {
            text += 'x';
        }
        text += std::to_string(extent);
    }
    return text;
}

}  // namespace v1
}  // namespace smdebug
