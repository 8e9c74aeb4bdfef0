// The bodies of <smdebug/trial/read/event_source.hpp> that are templates.
#pragma once

#include <smdebug/trial/read/event_source.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <storage Storage, class Bound>
byte_view piecewise_event_file<Storage, Bound>::at(byte_range record) {
    record = bound_(store_, key_, record);
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
