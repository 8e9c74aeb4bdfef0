// The bodies of <smdebug/trial/catalog/layout.hpp>.
#pragma once

#include <smdebug/trial/catalog/layout.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
