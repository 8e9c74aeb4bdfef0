// The bodies of <smdebug/trial/read/opened_event_file.hpp>.
#pragma once

#include <smdebug/trial/read/opened_event_file.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::span<std::byte> piece_buffer::room_for(std::size_t size, std::uint64_t offset, byte_view kept) {
    std::unique_ptr<std::byte[]> before;
    if (size_ < size + 2 * line) {
        before = std::exchange(bytes_, nullptr);
        size_ = 0;
        bytes_ = std::make_unique_for_overwrite<std::byte[]>(size + 2 * line);
        size_ = size + 2 * line;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.get());
    const std::size_t shift = (static_cast<std::size_t>(offset % line) + line - begin % line) % line;
    const std::span<std::byte> room{bytes_.get() + shift, size};
    if (!kept.empty()) {
        std::memmove(room.data(), kept.data(), kept.size());
    }
    return room;
}

SMDEBUG_INLINE byte_view opened_event_file::at(byte_range record) {
    if (notes_ != nullptr) {
        if (const byte_view known = notes_->bytes(record); !known.empty()) {
            return known;
        }
    }
    const byte_view some = from(record.offset, record.length);
    return some.first(static_cast<std::size_t>(std::min<std::uint64_t>(record.length, some.size())));
}

SMDEBUG_INLINE opened_event_file* opened_event_file::opened() noexcept { return this; }

SMDEBUG_INLINE byte_view opened_event_file::from(std::uint64_t offset, std::uint64_t least) {
    const std::uint64_t begin = std::min(offset, file_.size());
    const auto length = static_cast<std::size_t>(std::min(least, file_.size() - begin));
    if (begin < begin_ || begin - begin_ > there_.size() || length > there_.size() - (begin - begin_)) {
        read(begin, length);
    }
    return there_.subspan(static_cast<std::size_t>(begin - begin_));
}

SMDEBUG_INLINE void opened_event_file::read(std::uint64_t begin, std::size_t length) {
    const auto rest = file_.size() - begin;
    const std::size_t size =
        length >= piece_ / 2 ? length : static_cast<std::size_t>(std::min<std::uint64_t>(piece_, rest));
    byte_view kept = std::exchange(there_, {});  // should the reading fail
    if (byte_buffer part = file_.part(begin, size); !part.empty() && part.size() >= length) {
        part_ = std::move(part);
        there_ = part_.view();
        begin_ = begin;
        return;
    }
    const bool inside = begin >= begin_ && begin - begin_ < kept.size();
    kept = inside ? kept.subspan(static_cast<std::size_t>(begin - begin_)) : byte_view{};
    const std::span<std::byte> room = buffer_.room_for(size, begin, kept);
    const std::size_t got = file_.read_at(begin + kept.size(), room.subspan(kept.size()));
    there_ = room.first(kept.size() + got);
    begin_ = begin;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
