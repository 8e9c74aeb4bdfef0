// The bodies of <smdebug/trial/read/event_source.hpp>.
#pragma once

#include <smdebug/trial/read/event_source.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE byte_view event_source::entry_bytes(const layout::entry& entry) { return at(entry.record); }

SMDEBUG_INLINE opened_event_file* event_source::opened() noexcept { return nullptr; }

SMDEBUG_INLINE byte_view whole_event_file::at(byte_range record) { return part(record); }

SMDEBUG_INLINE byte_view whole_event_file::part(byte_range record) const noexcept {
    const auto begin = static_cast<std::size_t>(std::min<std::uint64_t>(record.offset, bytes_.size()));
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(record.length, bytes_.size() - begin));
    return bytes_.subspan(begin, length);
}

/// An object that is read by ranges.
class ranged_object final : public opened_object {
public:
    ranged_object(any_storage store, std::string key, std::uint64_t size)
        : store_(std::move(store)), key_(std::move(key)), size_(size) {}
    [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
    [[nodiscard]] std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override {
        const byte_buffer bytes = store_.read(key_, {.offset = offset, .length = into.size()});
        std::copy(bytes.view().begin(), bytes.view().end(), into.begin());
        return bytes.size();
    }

private:
    any_storage store_;
    std::string key_;
    std::uint64_t size_;
};

SMDEBUG_INLINE std::unique_ptr<opened_object> open_or_range(const any_storage& store, const std::string& key) {
    if (auto object = store.open(key)) {
        return object;
    }
    const std::optional<std::uint64_t> size = store.size(key);
    return size ? std::make_unique<ranged_object>(store, key, *size) : nullptr;
}

SMDEBUG_INLINE byte_view piecewise_event_file::at(byte_range record) {
    const bool inside =
        record.offset >= begin_ && record.length <= asked_ && record.offset - begin_ <= asked_ - record.length;
    if (!inside) {
        const std::uint64_t length = std::max(record.length, least_);
        asked_ = 0;  // in case the read fails
        piece_ = {};
        piece_ = store_.read(key_, {.offset = record.offset, .length = length});
        begin_ = record.offset;
        asked_ = length;
    }
    return whole_event_file{piece_.view()}.part({.offset = record.offset - begin_, .length = record.length});
}

SMDEBUG_INLINE void cached_reductions::add(byte_range record, byte_view bytes) {
    small_.push_back({.offset = record.offset, .begin = bytes_.size(), .length = bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    cost_ += sizeof(small) + bytes.size();
}

SMDEBUG_INLINE void cached_reductions::add(byte_range record, early_reductions tensor) {
    cost_ += sizeof(large) + tensor.name.size();
    large_.push_back({.record = record, .tensor = std::move(tensor)});
}

SMDEBUG_INLINE byte_view cached_reductions::bytes(byte_range record) const noexcept {
    const auto one = std::lower_bound(small_.begin(), small_.end(), record.offset,
                                      [](const small& each, std::uint64_t offset) { return each.offset < offset; });
    if (one == small_.end() || one->offset != record.offset || one->length != record.length) {
        return {};
    }
    return byte_view{bytes_}.subspan(one->begin, one->length);
}

SMDEBUG_INLINE const early_reductions* cached_reductions::tensor(byte_range record,
                                                                 std::string_view name) const noexcept {
    const auto one =
        std::lower_bound(large_.begin(), large_.end(), record.offset,
                         [](const large& each, std::uint64_t offset) { return each.record.offset < offset; });
    const bool is_there = one != large_.end() && one->record.offset == record.offset &&
                          one->record.length == record.length && one->tensor.name == name;
    return is_there ? &one->tensor : nullptr;
}

SMDEBUG_INLINE std::span<std::byte> piece_buffer::room_for(std::size_t size, std::uint64_t offset, byte_view kept) {
    std::unique_ptr<std::byte[]> before;
    if (size_ < size + 2 * line) {
        before = std::exchange(bytes_, nullptr);
        size_ = 0;
        bytes_ = std::make_unique_for_overwrite<std::byte[]>(size + 2 * line);
        size_ = size + 2 * line;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(bytes_.get());
    const std::size_t shift = (std::size_t{offset % line} + line - begin % line) % line;
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
    return there_.subspan(std::size_t{begin - begin_});
}

SMDEBUG_INLINE void opened_event_file::read(std::uint64_t begin, std::size_t length) {
    const auto rest = file_.size() - begin;
    const std::size_t size =
        length >= piece_ / 2 ? length : static_cast<std::size_t>(std::min<std::uint64_t>(piece_, rest));
    byte_view kept = std::exchange(there_, {});  // in case the read fails
    if (byte_buffer part = file_.part(begin, size); !part.empty() && part.size() >= length) {
        part_ = std::move(part);
        there_ = part_.view();
        begin_ = begin;
        return;
    }
    const bool inside = begin >= begin_ && begin - begin_ < kept.size();
    kept = inside ? kept.subspan(std::size_t{begin - begin_}) : byte_view{};
    const std::span<std::byte> room = buffer_.room_for(size, begin, kept);
    const std::size_t got = file_.read_at(begin + kept.size(), room.subspan(kept.size()));
    there_ = room.first(kept.size() + got);
    begin_ = begin;
}

}  // namespace smdebug::inline v1::detail
