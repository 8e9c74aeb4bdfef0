// The bodies of <smdebug/storage/output.hpp>.
#pragma once

#include <smdebug/storage/output.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void gather(std::vector<std::byte>& into, std::span<const byte_view> pieces) {
    std::size_t size = into.size();
    for (const byte_view piece : pieces) {
        size += piece.size();
    }
    if (size > into.capacity()) {
        into.reserve(std::max(size, 2 * into.capacity()));
    }
    for (const byte_view piece : pieces) {
        into.insert(into.end(), piece.begin(), piece.end());
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
