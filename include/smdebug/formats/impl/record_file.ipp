// The bodies of <smdebug/formats/record_file.hpp>.
#pragma once

#include <smdebug/formats/record_file.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/reader.hpp>
#include <smdebug/trial/read/event_source.hpp>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::size_t record_file::read(const any_storage& store, record_sink on_record, damage_sink on_damage) {
    if (state_ != status::ok && state_ != status::truncated) {
        return 0;
    }
    const std::uint64_t size = store.size(key_).value_or(0);
    if (size == size_) {
        return 0;
    }
    size_ = size;
    piecewise_event_file file{store, key_, std::uint64_t{4} << 20U};
    for (std::size_t count = 0;; ++count) {
        const byte_view head = file.at({position_, record::header_size});
        if (head.size() < record::header_size) {
            state_ = head.empty() ? status::ok : status::truncated;
            return count;
        }
        const record::detail::header claimed = record::load_header(head.data());
        const auto framed = record::framed_size(claimed.length);
        if (!claimed.valid() || !framed || *framed > most_) {
            state_ = claimed.valid() ? status::too_large : status::bad_length_checksum;
            on_damage({position_, record::header_size}, state_);
            return count;
        }
        const byte_range where{position_, *framed};
        const auto record = record::read_record(file.at(where), crc_check::full);
        if (!record.ok() && record.code() != status::bad_payload_checksum) {
            state_ = record.code();
            return count;
        }
        position_ += *framed;
        if (record.ok()) {
            on_record(where, record->payload);
        } else {
            on_damage(where, record.code());
        }
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
