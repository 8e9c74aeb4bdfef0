// What one index file's payload says, in numbers: which tensors lie where in an event file.
// Training writes the same list at nearly every step, so that layouts are few and shared; where they differ, they
// mostly differ in the places alone, and share the names.  Layouts of other data say how each tensor is stored, too.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/name_list.hpp>
#include <smdebug/trial/catalog/stored_form.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The entries of one index file, or of one object of other data at one step, in their order.
class layout {
public:
    /// Where one record lies, and what it is.
    struct entry {
        byte_range record;
        recorded_item what;
        const stored_form* form = nullptr;     ///< how it is stored; null: as a record of an event file
        const timed_number* number = nullptr;  ///< of other data, see catalog::entry_of(); null: it has none

        [[nodiscard]] storage_form stored_as() const noexcept {
            return form != nullptr ? form->as : storage_form::record;
        }
        /// Whether anything has to be read for it.
        [[nodiscard]] bool is_in_object() const noexcept {
            return stored_as() != storage_form::number && stored_as() != storage_form::made;
        }
    };

    struct shape_entry {
        name_id name = 0;
        name_id original_name = 0;
        shape_type extents;
        friend bool operator==(const shape_entry&, const shape_entry&) = default;
    };

    layout();
    /// `places` are those of the names' items, one each; so are `forms`, where they are not null.  `shapes`: by name.
    layout(std::shared_ptr<const name_list> names, std::vector<byte_range> places, std::vector<shape_entry> shapes,
           std::shared_ptr<const form_list> forms = nullptr);

    [[nodiscard]] const name_list& names() const noexcept { return *names_; }
    [[nodiscard]] const std::shared_ptr<const name_list>& shared_names() const noexcept { return names_; }
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
    [[nodiscard]] const std::shared_ptr<const form_list>& forms() const noexcept { return forms_; }
    [[nodiscard]] entry operator[](std::size_t place) const noexcept {
        return {places_[place], names_->items()[place], forms_ != nullptr ? &(*forms_)[place] : nullptr};
    }
    [[nodiscard]] std::span<const shape_entry> shapes() const noexcept { return shapes_; }
    [[nodiscard]] bool empty() const noexcept { return places_.empty() && shapes_.empty(); }

    /// Whether anything has to be read for any of them.
    [[nodiscard]] bool is_in_objects() const noexcept {
        for (std::size_t i = 0; i < size(); ++i) {
            if ((*this)[i].is_in_object()) {
                return true;
            }
        }
        return false;
    }

    /// Whether anything of this tensor is here: values, a reduction or a shape.
    [[nodiscard]] bool contains(name_id name) const noexcept { return names_->contains(name); }
    /// Whether its values are.
    [[nodiscard]] bool has_values(name_id name) const noexcept { return names_->find(name, 0).has_value(); }

    /// The saved shape; of several the last.
    [[nodiscard]] const shape_entry* shape(name_id name) const noexcept;

    /// The reductions that were saved of a tensor.
    [[nodiscard]] reduction_set saved_reductions(name_id name) const noexcept { return names_->saved_reductions(name); }

    /// Whether it says just that, with this list of names and of forms.      `sorted`: shapes by name.
    [[nodiscard]] bool equals(const std::shared_ptr<const name_list>& names, std::span<const byte_range> places,
                              std::span<const shape_entry> sorted,
                              const std::shared_ptr<const form_list>& forms) const noexcept;

    /// Heap bytes held, without the names.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    std::shared_ptr<const name_list> names_;
    std::shared_ptr<const form_list> forms_;  // null: all are records
    std::vector<byte_range> places_;
    std::vector<shape_entry> shapes_;  // by name
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/layout.ipp>
#endif
