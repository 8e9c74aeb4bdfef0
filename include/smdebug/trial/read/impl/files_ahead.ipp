// The bodies of <smdebug/trial/read/files_ahead.hpp>.
#pragma once

#include <smdebug/trial/read/files_ahead.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<std::size_t> files_ahead::take(std::size_t begin, std::size_t end) noexcept {
    std::size_t before = end_.load(std::memory_order_relaxed);
    while (true) {
        const std::size_t place = std::max(before, begin);
        if (place >= end) {
            return std::nullopt;
        }
        if (end_.compare_exchange_weak(before, place + 1, std::memory_order_relaxed)) {
            return place;
        }
    }
}

SMDEBUG_INLINE void files_ahead::tell(std::size_t place, bool was_there) noexcept {
    if (!was_there) {
        passed_.store(0, std::memory_order_relaxed);
        return;
    }
    const std::size_t more = std::min(2 * passed_.load(std::memory_order_relaxed) + 4, passed_at_most);
    passed_.store(more, std::memory_order_relaxed);
    pass(place + 1 + more);
}

SMDEBUG_INLINE void files_ahead::pass(std::size_t end) noexcept {
    std::size_t before = end_.load(std::memory_order_relaxed);
    while (before < end && !end_.compare_exchange_weak(before, end, std::memory_order_relaxed)) {
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
