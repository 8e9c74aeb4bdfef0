// The bodies of <smdebug/trial/read/reading_plan.hpp>.
#pragma once

#include <smdebug/trial/read/reading_plan.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE file_extent extent_of(const layout& entries, const selected_tensors& which) noexcept {
    file_extent extent;
    for (std::size_t place = 0; place < entries.size(); ++place) {
        const layout::entry entry = entries[place];
        if (!entry.is_in_object()) {
            continue;
        }
        extent.end = std::max(extent.end, behind(entry.record));
        if (which.contains(entry.what.name)) {
            extent.wanted = bounded_sum(extent.wanted, entry.record.length);
            ++extent.records;
            extent.largest = std::max(extent.largest, entry.record.length);
        }
    }
    return extent;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
