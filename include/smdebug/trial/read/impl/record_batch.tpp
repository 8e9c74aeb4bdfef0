// The bodies of <smdebug/trial/read/record_batch.hpp> that are templates.
#pragma once

#include <smdebug/trial/read/record_batch.hpp>

#include <algorithm>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <storage Storage>
paged_event_file<Storage>::paged_event_file(const Storage& store, std::string key, std::vector<byte_range> records,
                                            std::uint64_t most, std::vector<std::size_t> group_ends)
    : store_(store),
      key_(std::move(key)),
      records_(std::move(records)),
      group_ends_(std::move(group_ends)),
      most_(most) {
    read_page();
    is_there_ = page_.is_there();
}

template <storage Storage>
byte_view paged_event_file<Storage>::at(byte_range record) {
    if (page_.taken()) {
        read_page();
    }
    return page_.at(record);
}

template <storage Storage>
void paged_event_file<Storage>::read_page() {
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

template <storage Storage>
std::uint64_t paged_event_file<Storage>::bytes_of(std::size_t begin, std::size_t end) const noexcept {
    std::uint64_t bytes = 0;
    for (std::size_t i = begin; i < end; ++i) {
        bytes += std::min(records_[i].length, std::numeric_limits<std::uint64_t>::max() - bytes);
    }
    return bytes;
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
