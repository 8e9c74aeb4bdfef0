// The bodies of <smdebug/trial/read/passed_records.hpp>.
#pragma once

#include <smdebug/trial/read/passed_records.hpp>

#include <algorithm>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void passed_records::add(byte_range record, byte_view bytes) {
    small_.push_back({.offset = record.offset, .begin = bytes_.size(), .length = bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    cost_ += sizeof(small) + bytes.size();
}

SMDEBUG_INLINE void passed_records::add(byte_range record, passed_tensor tensor) {
    cost_ += sizeof(large) + tensor.name.size();
    large_.push_back({.record = record, .tensor = std::move(tensor)});
}

SMDEBUG_INLINE byte_view passed_records::bytes(byte_range record) const noexcept {
    const auto one = std::lower_bound(small_.begin(), small_.end(), record.offset,
                                      [](const small& each, std::uint64_t offset) { return each.offset < offset; });
    if (one == small_.end() || one->offset != record.offset || one->length != record.length) {
        return {};
    }
    return byte_view{bytes_}.subspan(one->begin, one->length);
}

SMDEBUG_INLINE const passed_tensor* passed_records::tensor(byte_range record, std::string_view name) const noexcept {
    const auto one =
        std::lower_bound(large_.begin(), large_.end(), record.offset,
                         [](const large& each, std::uint64_t offset) { return each.record.offset < offset; });
    const bool is_there = one != large_.end() && one->record.offset == record.offset &&
                          one->record.length == record.length && one->tensor.name == name;
    return is_there ? &one->tensor : nullptr;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
