// The bodies of <smdebug/trial/catalog/load_memory.hpp>.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/trial/catalog/load_memory.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<std::uint32_t> payload_memory::find(std::uint32_t worker, byte_view bytes) {
    if (worker < last_of_.size() && last_of_[worker] < held_.size() && matches(held_[last_of_[worker]], bytes)) {
        return use(last_of_[worker], worker);
    }
    for (std::uint32_t i = 0; i < held_.size(); ++i) {
        if (matches(held_[i], bytes)) {
            return use(i, worker);
        }
    }
    return std::nullopt;
}

SMDEBUG_INLINE void payload_memory::remember(std::uint32_t worker, byte_view bytes, std::uint32_t layout) {
    workers_ = std::max<std::size_t>(workers_, worker + std::size_t{1});
    while (held_.size() >= 8 && (held_.size() >= 8 + 2 * workers_ || bytes_ + bytes.size() > most_bytes)) {
        const auto oldest = std::min_element(held_.begin(), held_.end(),
                                             [](const payload& a, const payload& b) { return a.used < b.used; });
        bytes_ -= oldest->bytes.size();
        std::swap(*oldest, held_.back());  // last_of_ is a guess, which find() confirms
        held_.pop_back();
    }
    payload& slot = held_.emplace_back();
    bytes_ += bytes.size();
    slot.bytes.assign(bytes.begin(), bytes.end());
    slot.layout = layout;
    static_cast<void>(use(static_cast<std::uint32_t>(&slot - held_.data()), worker));
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
    held_[place].used = ++clock_;
    return held_[place].layout;
}

SMDEBUG_INLINE std::shared_ptr<const name_list> list_of_lists::find(std::span<const recorded_item> items,
                                                                    std::span<const name_id> shapes) {
    for (std::size_t i = 0; i < held_.size(); ++i) {
        if (held_[i]->equals(items, shapes)) {
            const auto place = held_.begin() + static_cast<std::ptrdiff_t>(i);
            std::rotate(held_.begin(), place, place + 1);
            return held_.front();
        }
    }
    return nullptr;
}

SMDEBUG_INLINE void list_of_lists::remember(std::shared_ptr<const name_list> list) {
    if (held_.size() == most) {
        held_.pop_back();
    }
    held_.insert(held_.begin(), std::move(list));
}

SMDEBUG_INLINE void load_memory::forget() {
    payloads.forget();
    lists.forget();
    workers.clear();
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
