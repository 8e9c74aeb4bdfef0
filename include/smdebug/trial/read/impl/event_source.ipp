// The bodies of <smdebug/trial/read/event_source.hpp>.
#pragma once

#include <smdebug/trial/read/event_source.hpp>

#include <algorithm>
#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE byte_view whole_event_file::at(byte_range record) const noexcept {
    const auto begin = static_cast<std::size_t>(std::min<std::uint64_t>(record.offset, bytes_.size()));
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(record.length, bytes_.size() - begin));
    return bytes_.subspan(begin, length);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
