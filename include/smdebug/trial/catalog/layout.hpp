// Layouts: what one index file's payload says, in numbers: which tensors lie where in an event file.  What they consist
// of: the table of a run's names, and lists of names; also a cache of answers about lists of names, and the names that
// are in any of several lists.
// Training writes the same list at nearly every step, so layouts are few and shared; those that differ mostly differ in
// the places only, and share the names.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/sorted_blocks.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/stored_form.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug::inline v1::detail {

/// A tensor's name as a number: its rank in the order in which names were first seen.
using name_id = std::uint32_t;

/// Names and their numbers, immutable; name_table_builder makes the next one.  Numbers never change.
/// Threads: const calls may run at once.  Copies share the names.
class name_table {
public:
    /// The number of a name, whether a tensor's or only the original name of one.
    [[nodiscard]] std::optional<name_id> find(std::string_view name) const noexcept;
    /// The number of a tensor's name; nothing for a name that is only the original one.
    [[nodiscard]] std::optional<name_id> find_tensor(std::string_view name) const noexcept;
    [[nodiscard]] const std::string& operator[](name_id id) const noexcept { return *by_id_[id]; }
    [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }
    /// A table with these names and numbers, none of them a tensor's yet.
    [[nodiscard]] std::shared_ptr<const name_table> without_tensors() const;

    /// Heap bytes held, roughly.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    friend class name_table_builder;
    struct named {
        std::shared_ptr<const std::string> text;
        name_id id = 0;
        bool is_tensor = false;
    };
    struct text_of {
        [[nodiscard]] std::string_view operator()(const named& one) const noexcept { return *one.text; }
    };
    sorted_blocks<named, text_of> by_text_;
    shared_list<std::shared_ptr<const std::string>> by_id_;
};

/// Collects names and makes a table of them and the previous table's.
class name_table_builder {
public:
    explicit name_table_builder(std::shared_ptr<const name_table> base) : base_(std::move(base)) {}

    /// The number of a name; adds the name if it is new.
    [[nodiscard]] name_id id_of(std::string_view name);
    [[nodiscard]] const std::string& text_of(name_id id) const noexcept {
        return id < base_->size() ? (*base_)[id] : *fresh_[id - base_->size()].text;
    }
    [[nodiscard]] std::size_t size() const noexcept { return base_->size() + fresh_.size(); }
    /// Notes that a name is a tensor's.
    void mark_tensor(name_id id);

    /// The table with everything so far; the previous one if nothing is new.
    [[nodiscard]] std::shared_ptr<const name_table> finish() &&;

private:
    std::shared_ptr<const name_table> base_;
    std::vector<name_table::named> fresh_;     // in the order of their numbers
    std::vector<name_table::named> promoted_;  // names of the base that are now tensors'
    std::unordered_map<std::string_view, name_id> fresh_ids_;
};

/// The forms of a layout's items.  Immutable.
class form_list {
public:
    /// `of_item`: one per item, pointing into a table whose elements do not move while `table` is held.
    form_list(std::shared_ptr<const void> table, std::vector<const stored_form*> of_item)
        : table_(std::move(table)), of_item_(std::move(of_item)) {}

    [[nodiscard]] const stored_form& operator[](std::size_t item) const noexcept { return *of_item_[item]; }

    [[nodiscard]] bool equals(const std::vector<const stored_form*>& of_item) const { return of_item_ == of_item; }
    /// Heap bytes held, without the table.
    [[nodiscard]] std::size_t memory() const noexcept { return of_item_.capacity() * sizeof(of_item_[0]); }

private:
    std::shared_ptr<const void> table_;
    std::vector<const stored_form*> of_item_;
};

/// The meaning of a tensor's name in an index file: the tensor's own values, or one reduction of them.
struct recorded_name {
    std::string_view tensor;
    std::optional<reduction_key> reduction;
};

/// "smdebug/reductions/abs_mean/dense/kernel:0" is abs_mean of "dense/kernel:0".  The prefix counts only at the
/// beginning, where every hook writes it; a name with an unknown reduction is an ordinary tensor.
/// So reduction_tensor_name() restores the recorded name.
[[nodiscard]] constexpr recorded_name parse_recorded_name(std::string_view name) noexcept {
    if (name.starts_with(reductions_prefix)) {
        const std::string_view rest = name.substr(reductions_prefix.size());
        const std::size_t slash = rest.find('/');
        const auto key = reduction_key_named(rest.substr(0, slash));
        if (key && slash != std::string_view::npos) {
            return {rest.substr(slash + 1), key};
        }
    }
    return {name, std::nullopt};
}

/// One entry's name.
struct recorded_item {
    name_id name = 0;
    std::uint8_t kind = 0;  ///< 0 for the values; 1 + reduction_key::index() for a saved reduction
    friend constexpr bool operator==(const recorded_item&, const recorded_item&) = default;
};

/// The kind of an item.
[[nodiscard]] constexpr std::uint8_t kind_of(const std::optional<reduction_key>& reduction) noexcept {
    return static_cast<std::uint8_t>(reduction ? 1 + reduction->index() : 0);
}
/// The reduction of an item whose kind is not 0.
[[nodiscard]] constexpr reduction_key reduction_of(std::uint8_t kind) noexcept {
    return reduction_key::from_index(kind - std::size_t{1});
}

/// The names of an index file's entries in the file's order, and those that have only a shape.
class name_list {
public:
    name_list() = default;
    using names_sorter = function_ref<void(std::vector<name_id>&)>;

    /// `sort_by_text(names)` puts names in the order of their texts, for tensors().
    name_list(std::vector<recorded_item> items, std::vector<name_id> shapes, names_sorter sort_by_text);

    [[nodiscard]] std::span<const recorded_item> items() const noexcept { return items_; }
    /// The tensors whose shape was saved, by number.
    [[nodiscard]] std::span<const name_id> shapes() const noexcept { return shapes_; }
    /// Every tensor that has anything here, each once, sorted by name.
    [[nodiscard]] std::span<const name_id> tensors() const noexcept { return tensors_; }

    /// Whether there are only values, and no saved reductions.
    [[nodiscard]] bool values_alone() const noexcept { return values_alone_; }

    [[nodiscard]] bool contains(name_id name) const noexcept;
    /// The index of a name's item of a kind; of several the last.
    [[nodiscard]] std::optional<std::size_t> find(name_id name, std::uint8_t kind) const noexcept;
    /// The reductions that were saved of a tensor.
    [[nodiscard]] reduction_set saved_reductions(name_id name) const noexcept;
    /// Whether a walk in the file's order visits a tensor at this item: at its values (the last, if there are several),
    /// else at the first of its reductions in the order of reduction_key::index().
    [[nodiscard]] bool is_visited_at(std::size_t place) const noexcept;

    [[nodiscard]] bool equals(std::span<const recorded_item> items, std::span<const name_id> shapes) const noexcept;

    /// Heap bytes held.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    // Sorts by name, then kind, then place: among entries with the same name and kind the last one counts.
    void put_in_order();
    [[nodiscard]] std::size_t only_shapes() const noexcept;
    [[nodiscard]] static constexpr std::uint64_t rank(const recorded_item& item) noexcept {
        return (std::uint64_t{item.name} << 8U) | item.kind;
    }
    [[nodiscard]] std::vector<std::uint32_t>::const_iterator first_of(name_id name) const noexcept;

    std::vector<recorded_item> items_;
    std::vector<std::uint32_t> order_;  // places in items_, by name and kind
    std::vector<name_id> shapes_;
    std::vector<name_id> tensors_;
    bool values_alone_ = true;
    bool each_once_ = true;  // values alone, and no two of one name
};

/// The entries of one index file, or, for data of a catalog_source, of one object at one step, in their order.
class layout {
public:
    /// Where one record lies, and what it is.
    struct entry {
        byte_range record;
        recorded_item what;
        const stored_form* form = nullptr;     ///< how it is stored; null for a record of an event file
        const timed_number* number = nullptr;  ///< for data of a catalog_source, see catalog::entry_of(); may be null

        [[nodiscard]] storage_form stored_as() const noexcept {
            return form != nullptr ? form->as : storage_form::record;
        }
        /// Whether its data are in an object, rather than in the catalog.
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
    /// `places` has one element for each item of the names, and so has `forms` unless it is null.  `shapes`: by name.
    layout(std::shared_ptr<const name_list> names, std::vector<byte_range> places, std::vector<shape_entry> shapes,
           std::shared_ptr<const form_list> forms = nullptr);

    [[nodiscard]] const name_list& names() const noexcept { return *names_; }
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }
    [[nodiscard]] const std::shared_ptr<const form_list>& forms() const noexcept { return forms_; }
    [[nodiscard]] entry operator[](std::size_t place) const noexcept {
        return {places_[place], names_->items()[place], forms_ != nullptr ? &(*forms_)[place] : nullptr};
    }
    [[nodiscard]] std::span<const shape_entry> shapes() const noexcept { return shapes_; }
    [[nodiscard]] bool empty() const noexcept { return places_.empty() && shapes_.empty(); }

    /// Whether the data of any of them are in an object.
    [[nodiscard]] bool is_in_objects() const noexcept {
        for (std::size_t i = 0; i < size(); ++i) {
            if ((*this)[i].is_in_object()) {
                return true;
            }
        }
        return false;
    }

    /// Whether this tensor has anything here: values, a reduction or a shape.
    [[nodiscard]] bool contains(name_id name) const noexcept { return names_->contains(name); }
    /// Whether it has values.
    [[nodiscard]] bool has_values(name_id name) const noexcept { return names_->find(name, 0).has_value(); }

    /// The saved shape; the last one if there are several.
    [[nodiscard]] const shape_entry* shape(name_id name) const noexcept;

    /// The reductions that were saved of a tensor.
    [[nodiscard]] reduction_set saved_reductions(name_id name) const noexcept { return names_->saved_reductions(name); }

    /// Whether it has these contents, with this list of names and of forms.      `sorted`: shapes by name.
    [[nodiscard]] bool equals(const std::shared_ptr<const name_list>& names, std::span<const byte_range> places,
                              std::span<const shape_entry> sorted,
                              const std::shared_ptr<const form_list>& forms) const noexcept;

    /// Heap bytes held, without the names.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    std::shared_ptr<const name_list> names_;
    std::shared_ptr<const form_list> forms_;  // null if all are records
    std::vector<byte_range> places_;
    std::vector<shape_entry> shapes_;  // by name
};

/// A small cache of answers about lists of names: consecutive files mostly share theirs.
template <class Answer>
class name_list_cache {
public:
    /// The result of `ask()` for a list, computed again only after the list was evicted.
    template <class Ask>
    [[nodiscard]] Answer& answer(const name_list& list, Ask&& ask) {
        slot& remembered = slots_[(reinterpret_cast<std::uintptr_t>(&list) >> 5U) % slots_.size()];
        if (remembered.list != &list) {
            remembered = {&list, ask()};
        }
        return remembered.answer;
    }

private:
    struct slot {
        const name_list* list = nullptr;
        Answer answer{};
    };
    std::array<slot, 32> slots_{};
};

/// The union of the tensors of all lists that for_each_list visits, sorted by text.
/// Cost: a pass over the lists; where they differ, one more for each 32,768 names in the table, then a sort.  Allocates
/// its result and nothing else.
[[nodiscard]] std::vector<std::string> names_found(
    const name_table& names, function_ref<void(function_ref<void(const name_list&)> visit)> for_each_list);

}  // namespace smdebug::inline v1::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/layout.ipp>
#endif
