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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
