// The bodies of <smdebug/trial/catalog/load_memory.hpp>.
#pragma once

#include <smdebug/trial/catalog/load_memory.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<std::uint32_t> payload_memory::find(std::uint32_t worker, byte_view bytes) {
    if (worker < last_of_.size() && last_of_[worker] < payloads_.size() &&
        matches(payloads_[last_of_[worker]], bytes)) {
        return use(last_of_[worker], worker);
    }
    for (std::uint32_t i = 0; i < payloads_.size(); ++i) {
        if (matches(payloads_[i], bytes)) {
            return use(i, worker);
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE void payload_memory::remember(std::uint32_t worker, byte_view bytes, std::uint32_t layout) {
    workers_ = std::max<std::size_t>(workers_, worker + std::size_t{1});
    while (payloads_.size() >= 8 && (payloads_.size() >= 8 + 2 * workers_ || bytes_ + bytes.size() > most_bytes)) {
        const auto oldest = std::min_element(payloads_.begin(), payloads_.end(),
                                             [](const payload& a, const payload& b) { return a.used < b.used; });
        bytes_ -= oldest->bytes.size();
        std::swap(*oldest, payloads_.back());  // last_of_ is a guess, which find() confirms
        payloads_.pop_back();
    }
    payload& slot = payloads_.emplace_back();
    bytes_ += bytes.size();
    slot.bytes.assign(bytes.begin(), bytes.end());
    slot.layout = layout;
    static_cast<void>(use(static_cast<std::uint32_t>(&slot - payloads_.data()), worker));
}

SMDEBUG_INLINE bool payload_memory::matches(const payload& known, byte_view bytes) noexcept {
    constexpr std::size_t tail = 64;
    const std::size_t size = bytes.size();
    return known.bytes.size() == size &&
           (size < tail || std::memcmp(known.bytes.data() + size - tail, bytes.data() + size - tail, tail) == 0) &&
           (size == 0 || std::memcmp(known.bytes.data(), bytes.data(), size) == 0);
}

SMDEBUG_INLINE std::uint32_t payload_memory::use(std::uint32_t place, std::uint32_t worker) {
    if (worker >= last_of_.size()) {
        last_of_.resize(worker + std::size_t{1}, none);
    }
    last_of_[worker] = place;
    payloads_[place].used = ++clock_;
    return payloads_[place].layout;
}

SMDEBUG_INLINE std::shared_ptr<const name_list> list_of_lists::find(std::span<const recorded_item> items,
                                                                    std::span<const name_id> shapes) {
    for (std::size_t i = 0; i < lists_.size(); ++i) {
        if (lists_[i]->equals(items, shapes)) {
            const auto place = lists_.begin() + static_cast<std::ptrdiff_t>(i);
            std::rotate(lists_.begin(), place, place + 1);
            return lists_.front();
        }
    }
    return nullptr;
}

SMDEBUG_INLINE void list_of_lists::remember(std::shared_ptr<const name_list> list) {
    if (lists_.size() == most) {
        lists_.pop_back();
    }
    lists_.insert(lists_.begin(), std::move(list));
}

SMDEBUG_INLINE void load_memory::forget() {
    payloads.forget();
    lists.forget();
    workers.clear();
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
