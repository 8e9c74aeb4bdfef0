// What one index file's payload says, in numbers: which tensors lie where in an event file.
// Training writes the same list at nearly every step, so that layouts are few and shared; where they differ, they
// mostly differ in the places alone, and share the names.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/name_list.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The entries of one index file, in the file's order.
class layout {
public:
    /// Where one record lies, and what it is.
    struct entry {
        byte_range record;
        recorded_item what;
    };

    struct shape_entry {
        name_id name = 0;
        name_id original_name = 0;
        shape_type extents;
        friend bool operator==(const shape_entry&, const shape_entry&) = default;
    };

    layout();
    /// `places` are those of the names' items, one each.
    layout(std::shared_ptr<const name_list> names, std::vector<byte_range> places, std::vector<shape_entry> shapes);

    [[nodiscard]] const name_list& names() const noexcept { return *names_; }
    [[nodiscard]] const std::shared_ptr<const name_list>& shared_names() const noexcept { return names_; }
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
    [[nodiscard]] entry operator[](std::size_t place) const noexcept {
        return {places_[place], names_->items()[place]};
    }
    [[nodiscard]] std::span<const shape_entry> shapes() const noexcept { return shapes_; }
    [[nodiscard]] bool empty() const noexcept { return places_.empty() && shapes_.empty(); }

    /// Whether anything of this tensor is here: values, a reduction or a shape.
    [[nodiscard]] bool contains(name_id name) const noexcept { return names_->contains(name); }

    /// The values' entry, or a saved reduction's; nothing when it was not saved.
    [[nodiscard]] std::optional<entry> values(name_id name) const noexcept { return at(names_->find(name, 0)); }
    [[nodiscard]] std::optional<entry> reduction(name_id name, reduction_key key) const noexcept {
        return at(names_->find(name, kind_of(key)));
    }

    /// The saved shape; of several the last.
    [[nodiscard]] const shape_entry* shape(name_id name) const noexcept;

    /// The reductions that were saved of a tensor.
    [[nodiscard]] reduction_set saved_reductions(name_id name) const noexcept { return names_->saved_reductions(name); }

    /// Whether the other says the same, with the same list of names.
    [[nodiscard]] bool equals(const layout& other) const noexcept;

    /// Heap bytes held, without the names.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    [[nodiscard]] std::optional<entry> at(std::optional<std::size_t> place) const noexcept {
        return place ? std::optional{(*this)[*place]} : std::nullopt;
    }

    std::shared_ptr<const name_list> names_;
    std::vector<byte_range> places_;
    std::vector<shape_entry> shapes_;  // by name
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/layout.ipp>
#endif
