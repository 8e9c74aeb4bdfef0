// The bodies of <smdebug/trial/read/record_batch.hpp>.
#pragma once

#include <smdebug/core/places_in_order.hpp>
#include <smdebug/trial/read/record_batch.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE void collected_event_file::put(std::size_t place, std::optional<byte_buffer> bytes) {
    slots_[place].is_there = bytes.has_value();
    slots_[place].bytes = std::move(bytes).value_or(byte_buffer{});
}

SMDEBUG_INLINE byte_view collected_event_file::at(byte_range record) {
    slot& next = slots_[next_++];
    taken_ = std::exchange(next.bytes, {});
    if (next.why != nullptr) {
        std::rethrow_exception(next.why);
    }
    if (!next.is_there) {
        throw not_found("event file " + key_ + " was removed while it was read", {.where = key_});
    }
    return taken_.slice({.offset = 0, .length = record.length}).view();
}

SMDEBUG_INLINE void record_batch::add(std::string key, std::span<const byte_range> records) {
    const std::string& kept = keys_.emplace_back(std::move(key));
    // Asked for by ascending offset, which is what storages merge.
    const std::vector<std::uint32_t> order = places_in_order(
        records.size(), [&](std::size_t a, std::size_t b) { return records[a].offset < records[b].offset; });
    std::uint64_t wanted = 0;
    for (const std::uint32_t place : order) {
        ranges_.push_back({kept, records[place]});
        places_.push_back(place);
        wanted += std::min(records[place].length, most - wanted);
    }
    const std::uint64_t span = order.empty() ? 0 : records[order.back()].offset - records[order.front()].offset;
    files_.push_back({.end = ranges_.size(), .scattered = wanted < span / 2});
}

SMDEBUG_INLINE record_batch::incoming_file::incoming_file(const record_batch& of, std::size_t number) : of_(&of) {
    if (number < of.files_.size()) {
        scattered_ = of.files_[number].scattered;
        collected = {of.keys_[number], of.files_[number].end - of.begin_of(number)};
    }
}

SMDEBUG_INLINE void record_batch::incoming_file::put(std::size_t i, std::optional<byte_buffer> bytes,
                                                     const object_version& version) {
    if (bytes) {
        mixed_ = !version_.merge(version) || mixed_;
    }
    if (bytes && scattered_ && bytes->size() <= largest_copy) {
        // A copy, as a slice would keep all bytes alive that came with the same request.
        bytes = byte_buffer::take(std::vector<std::byte>(bytes->view().begin(), bytes->view().end()));
    }
    collected.put(of_->places_[i], std::move(bytes));
}

SMDEBUG_INLINE paged_event_file::paged_event_file(const any_storage& store, std::string key,
                                                  std::vector<byte_range> records, std::uint64_t most,
                                                  std::vector<std::size_t> group_ends)
    : store_(store),
      key_(std::move(key)),
      records_(std::move(records)),
      group_ends_(std::move(group_ends)),
      most_(most) {
    read_page();
    is_there_ = page_.is_there();
}

SMDEBUG_INLINE byte_view paged_event_file::at(byte_range record) {
    if (page_.taken()) {
        read_page();
    }
    return page_.at(record);
}

SMDEBUG_INLINE void paged_event_file::read_page() {
    page_ = {};
    const std::size_t begin = next_;
    std::uint64_t bytes = 0;
    while (next_ < records_.size()) {
        const std::size_t end = group_ < group_ends_.size() ? group_ends_[group_] : next_ + 1;
        const std::uint64_t more = bytes_of(next_, end);
        if (next_ > begin && more > most_ - bytes) {
            break;
        }
        bytes += std::min(more, most_ - bytes);
        next_ = end;
        ++group_;
    }
    record_batch batch;
    batch.add(key_, std::span{records_}.subspan(begin, next_ - begin));
    batch.read(store_, [&](std::size_t, collected_event_file& page) { page_ = std::move(page); });
}

SMDEBUG_INLINE std::uint64_t paged_event_file::bytes_of(std::size_t begin, std::size_t end) const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
        bytes += std::min(records_[i].length, std::numeric_limits<std::uint64_t>::max() - bytes);
    }
    return bytes;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
