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

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE byte_view piecewise_event_file::at(byte_range record) {
    record = bound_ ? (*bound_)(store_, key_, record) : record;
    const bool inside =
        record.offset >= begin_ && record.length <= asked_ && record.offset - begin_ <= asked_ - record.length;
    if (!inside) {
        const std::uint64_t length = std::max(record.length, least_);
        asked_ = 0;  // should the reading fail
        piece_ = {};
        piece_ = store_.read(key_, {.offset = record.offset, .length = length});
        begin_ = record.offset;
        asked_ = length;
    }
    return whole_event_file{piece_.view()}.at({.offset = record.offset - begin_, .length = record.length});
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
