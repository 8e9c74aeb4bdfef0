// The bodies of <smdebug/trial/catalog/name_list.hpp>.
#pragma once

#include <smdebug/core/places_in_order.hpp>
#include <smdebug/trial/catalog/name_list.hpp>

#include <algorithm>
#include <bit>
#include <iterator>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE name_list::name_list(std::vector<recorded_item> items, std::vector<name_id> shapes,
                                    names_sorter sort_by_text)
    : items_(std::move(items)), shapes_(std::move(shapes)) {
    items_.shrink_to_fit();
    put_in_order();
    std::sort(shapes_.begin(), shapes_.end());
    shapes_.erase(std::unique(shapes_.begin(), shapes_.end()), shapes_.end());
    std::vector<name_id> all = shapes_;
    all.reserve(shapes_.size() + items_.size());
    for (const std::uint32_t place : order_) {
        all.push_back(items_[place].name);
    }
    std::inplace_merge(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shapes_.size()), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    sort_by_text(all);
    tensors_.assign(all.begin(), all.end());
    values_alone_ = std::all_of(items_.begin(), items_.end(), [](const auto& item) { return item.kind == 0; });
    each_once_ = values_alone_ && tensors_.size() - only_shapes() == items_.size();
}

SMDEBUG_INLINE bool name_list::contains(name_id name) const noexcept {
    const auto first = first_of(name);
    return (first != order_.end() && items_[*first].name == name) ||
           std::binary_search(shapes_.begin(), shapes_.end(), name);
}

SMDEBUG_INLINE std::optional<std::size_t> name_list::find(name_id name, std::uint8_t kind) const noexcept {
    const std::uint64_t wanted = rank({.name = name, .kind = kind});
    const auto after =
        std::upper_bound(order_.begin(), order_.end(), wanted,
                         [this](std::uint64_t r, std::uint32_t place) { return r < rank(items_[place]); });
    if (after == order_.begin() || rank(items_[*std::prev(after)]) != wanted) {
        return std::nullopt;
    }
    return *std::prev(after);
}

SMDEBUG_INLINE reduction_set name_list::saved_reductions(name_id name) const noexcept {
    reduction_set saved;
    for (auto place = first_of(name); place != order_.end() && items_[*place].name == name; ++place) {
        if (const std::uint8_t kind = items_[*place].kind; kind > 0) {
            saved = saved | reduction_set{reduction_key::from_index(kind - std::size_t{1})};
        }
    }
    return saved;
}

SMDEBUG_INLINE bool name_list::leads(std::size_t place) const noexcept {
    if (each_once_) {
        return true;
    }
    const name_id name = items_[place].name;
    if (const auto values = find(name, 0)) {
        return *values == place;
    }
    const auto lowest = static_cast<std::size_t>(std::countr_zero(saved_reductions(name).mask));
    return find(name, kind_of(reduction_key::from_index(lowest))) == place;
}

SMDEBUG_INLINE bool name_list::equals(std::span<const recorded_item> items,
                                      std::span<const name_id> shapes) const noexcept {
    return std::equal(items_.begin(), items_.end(), items.begin(), items.end()) &&
           std::equal(shapes_.begin(), shapes_.end(), shapes.begin(), shapes.end());
}

SMDEBUG_INLINE std::size_t name_list::memory() const noexcept {
    return items_.capacity() * sizeof(recorded_item) + order_.capacity() * sizeof(std::uint32_t) +
           (shapes_.capacity() + tensors_.capacity()) * sizeof(name_id);
}

SMDEBUG_INLINE void name_list::put_in_order() {
    order_.resize(items_.size());
    if (items_.size() >= std::size_t{1} << 24U) {  // the general way
        order_ = places_in_order(items_.size(),
                                 [this](std::size_t a, std::size_t b) { return rank(items_[a]) < rank(items_[b]); });
        return;
    }
    // As numbers: 40 bits of name and kind, 24 of place.
    std::vector<std::uint64_t> keys(items_.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i] = rank(items_[i]) << 24U | i;
    }
    if (!std::is_sorted(keys.begin(), keys.end())) {
        std::sort(keys.begin(), keys.end());
    }
    std::transform(keys.begin(), keys.end(), order_.begin(),
                   [](std::uint64_t key) { return static_cast<std::uint32_t>(key & 0xffffffU); });
}

SMDEBUG_INLINE std::size_t name_list::only_shapes() const noexcept {
    return static_cast<std::size_t>(std::count_if(shapes_.begin(), shapes_.end(), [this](name_id name) {
        const auto first = first_of(name);
        return first == order_.end() || items_[*first].name != name;
    }));
}

SMDEBUG_INLINE std::vector<std::uint32_t>::const_iterator name_list::first_of(name_id name) const noexcept {
    return std::lower_bound(order_.begin(), order_.end(), name,
                            [this](std::uint32_t place, name_id id) { return items_[place].name < id; });
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
