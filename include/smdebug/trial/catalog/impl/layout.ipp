// The bodies of <smdebug/trial/catalog/layout.hpp>.
#pragma once

#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/trial/catalog/layout.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

namespace smdebug::inline v1::detail {

SMDEBUG_INLINE std::optional<name_id> name_table::find(std::string_view name) const noexcept {
    const named* known = by_text_.find(name);
    return known != nullptr ? std::optional{known->id} : std::nullopt;
}

SMDEBUG_INLINE std::optional<name_id> name_table::find_tensor(std::string_view name) const noexcept {
    const named* known = by_text_.find(name);
    return known != nullptr && known->is_tensor ? std::optional{known->id} : std::nullopt;
}

SMDEBUG_INLINE std::size_t name_table::memory() const noexcept {
    std::size_t bytes = by_text_.memory() + by_id_.memory();
    by_id_.for_each([&](const auto& text) { bytes += 2 * sizeof(void*) + sizeof(*text) + text->capacity(); });
    return bytes;
}

SMDEBUG_INLINE name_id name_table_builder::id_of(std::string_view name) {
    if (const auto known = base_->find(name)) {
        return *known;
    }
    const auto seen = fresh_ids_.find(name);
    if (seen != fresh_ids_.end()) {
        return seen->second;
    }
    const auto id = static_cast<name_id>(base_->size() + fresh_.size());
    fresh_.push_back({std::make_shared<const std::string>(name), id, false});
    fresh_ids_.emplace(*fresh_.back().text, id);
    return id;
}

SMDEBUG_INLINE void name_table_builder::mark_tensor(name_id id) {
    if (id >= base_->size()) {
        fresh_[id - base_->size()].is_tensor = true;
    } else if (const auto* known = base_->by_text_.find((*base_)[id]); !known->is_tensor) {
        promoted_.push_back({known->text, id, true});
    }
}

SMDEBUG_INLINE std::shared_ptr<const name_table> name_table::without_tensors() const {
    name_table_builder plain{std::make_shared<const name_table>()};
    for (name_id id = 0; id < size(); ++id) {
        static_cast<void>(plain.id_of((*this)[id]));
    }
    return std::move(plain).finish();
}

SMDEBUG_INLINE std::shared_ptr<const name_table> name_table_builder::finish() && {
    if (fresh_.empty() && promoted_.empty()) {
        return base_;
    }
    auto made = std::make_shared<name_table>(*base_);
    std::vector<std::shared_ptr<const std::string>> texts;
    texts.reserve(fresh_.size());
    for (const auto& known : fresh_) {
        texts.push_back(known.text);
    }
    made->by_id_ = base_->by_id_.with(std::move(texts));
    std::vector<name_table::named> changes = std::move(fresh_);
    changes.insert(changes.end(), promoted_.begin(), promoted_.end());
    std::sort(changes.begin(), changes.end(),
              [](const auto& a, const auto& b) { return *a.text != *b.text ? *a.text < *b.text : a.id < b.id; });
    changes.erase(
        std::unique(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.id == b.id; }),
        changes.end());
    made->by_text_ =
        base_->by_text_.with(std::move(changes), [](const auto&, name_table::named&& changed) { return changed; });
    return made;
}

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
            saved = saved | reduction_set{reduction_of(kind)};
        }
    }
    return saved;
}

SMDEBUG_INLINE bool name_list::is_visited_at(std::size_t place) const noexcept {
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
    if (items_.size() >= std::size_t{1} << 24U) {  // too many for the packed keys below
        order_ = places_in_order(items_.size(),
                                 [this](std::size_t a, std::size_t b) { return rank(items_[a]) < rank(items_[b]); });
        return;
    }
    // Packed into numbers: 40 bits of name and kind, 24 of index.
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

SMDEBUG_INLINE layout::layout() : names_(std::make_shared<const name_list>()) {}

SMDEBUG_INLINE bool layout::equals(const std::shared_ptr<const name_list>& names, std::span<const byte_range> places,
                                   std::span<const shape_entry> sorted,
                                   const std::shared_ptr<const form_list>& forms) const noexcept {
    return names_ == names && forms_ == forms && std::ranges::equal(places_, places) &&
           std::ranges::equal(shapes_, sorted);
}

SMDEBUG_INLINE layout::layout(std::shared_ptr<const name_list> names, std::vector<byte_range> places,
                              std::vector<shape_entry> shapes, std::shared_ptr<const form_list> forms)
    : names_(std::move(names)), forms_(std::move(forms)), places_(std::move(places)), shapes_(std::move(shapes)) {
    places_.shrink_to_fit();
    shapes_.shrink_to_fit();
}

SMDEBUG_INLINE const layout::shape_entry* layout::shape(name_id name) const noexcept {
    const auto after = std::upper_bound(shapes_.begin(), shapes_.end(), name,
                                        [](name_id id, const shape_entry& shape) { return id < shape.name; });
    return after != shapes_.begin() && std::prev(after)->name == name ? &*std::prev(after) : nullptr;
}

SMDEBUG_INLINE std::size_t layout::memory() const noexcept {
    std::size_t bytes = places_.capacity() * sizeof(byte_range) + shapes_.capacity() * sizeof(shape_entry);
    for (const shape_entry& shape : shapes_) {
        bytes += shape.extents.capacity() * sizeof(std::size_t);
    }
    return bytes;
}

SMDEBUG_INLINE std::vector<std::string> names_found(
    const name_table& names, function_ref<void(function_ref<void(const name_list&)> visit)> for_each_list) {
    constexpr std::size_t window = 32'768;  // names per pass: 4 KiB of bits
    std::vector<std::string> found;
    const name_list* only = nullptr;
    bool several = false;
    for_each_list([&](const name_list& list) {
        several = several || (only != nullptr && only != &list);
        only = &list;
    });
    if (only == nullptr) {
        return found;
    }
    if (!several) {
        found.reserve(only->tensors().size());
        for (const name_id id : only->tensors()) {
            found.push_back(names[id]);
        }
        return found;
    }
    std::array<std::uint64_t, window / 64> seen;
    for (std::size_t begin = 0; begin < names.size(); begin += window) {
        seen.fill(0);
        name_list_cache<bool> marked;
        for_each_list([&](const name_list& list) {
            static_cast<void>(marked.answer(list, [&] {
                for (const name_id id : list.tensors()) {
                    if (id - begin < window) {
                        seen[(id - begin) / 64] |= std::uint64_t{1} << (id % 64);
                    }
                }
                return true;
            }));
        });
        std::size_t count = found.size();
        for (const std::uint64_t bits : seen) {
            count += static_cast<std::size_t>(std::popcount(bits));
        }
        found.reserve(names.size() <= window ? count : std::max(count, names.size()));
        for (std::size_t word = 0; word < seen.size(); ++word) {
            for (std::uint64_t bits = seen[word]; bits != 0; bits &= bits - 1) {
                found.push_back(
                    names[static_cast<name_id>(begin + word * 64 + static_cast<std::size_t>(std::countr_zero(bits)))]);
            }
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace smdebug::inline v1::detail
