// What one index file's payload says, in numbers: which tensors lie where in an event file.
// Training writes the same list at nearly every step, so that layouts are few and shared.
// Used by: trial/catalog.hpp, trial/catalog_builder.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/reduce/name.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// A tensor's name as a number: its place in the catalog's name table.
using name_id = std::uint32_t;

/// What a tensor's name in an index file stands for: the tensor's own values, or one reduction of them.
struct recorded_name {
    std::string_view tensor;
    std::optional<reduction_key> reduction;
};

inline constexpr std::string_view reductions_prefix = "smdebug/reductions/";

/// "smdebug/reductions/abs_mean/dense/kernel:0" is abs_mean of "dense/kernel:0".  The prefix counts wherever it stands,
/// as in the Python package; a name whose reduction is unknown is a tensor like any other.
[[nodiscard]] constexpr recorded_name parse_recorded_name(std::string_view name) noexcept {
    const std::size_t at = name.find(reductions_prefix);
    if (at != std::string_view::npos) {
        const std::string_view rest = name.substr(at + reductions_prefix.size());
        const std::size_t slash = rest.find('/');
        const auto key = reduction_key_named(rest.substr(0, slash));
        if (key && slash != std::string_view::npos) {
            return {rest.substr(slash + 1), key};
        }
    }
    return {name, std::nullopt};
}

/// The entries of one index file, in the file's order.
class layout {
public:
    /// 24 bytes: this is what a catalog is made of when no two layouts are equal.
    struct entry {
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
        name_id name = 0;
        std::uint8_t kind = 0;      ///< 0: the values; 1 + reduction_key::index(): a saved reduction
        bool unusual_name = false;  ///< the recorded name is not what name and kind would make
        friend constexpr bool operator==(const entry&, const entry&) = default;
    };

    struct shape_entry {
        name_id name = 0;
        name_id original_name = 0;
        shape_type extents;
        friend bool operator==(const shape_entry&, const shape_entry&) = default;
    };

    layout() = default;
    layout(std::vector<entry> entries, std::vector<shape_entry> shapes)
        : entries_(std::move(entries)), shapes_(std::move(shapes)) {
        entries_.shrink_to_fit();
        order_.resize(entries_.size());
        for (std::uint32_t i = 0; i < order_.size(); ++i) {
            order_[i] = i;
        }
        // By name, then kind, then place: of entries that are equal in both the last one counts (decisions.md D28).
        std::sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
            return std::pair{rank(entries_[a]), a} < std::pair{rank(entries_[b]), b};
        });
        std::stable_sort(shapes_.begin(), shapes_.end(),
                         [](const shape_entry& a, const shape_entry& b) { return a.name < b.name; });
    }

    [[nodiscard]] std::span<const entry> entries() const noexcept { return entries_; }
    [[nodiscard]] std::span<const shape_entry> shapes() const noexcept { return shapes_; }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty() && shapes_.empty(); }

    /// Whether anything of this tensor is here: values, a reduction or a shape.
    [[nodiscard]] bool contains(name_id name) const noexcept {
        const auto found = first_of(name);
        return (found != order_.end() && entries_[*found].name == name) || shape(name) != nullptr;
    }

    /// The values' entry, or a saved reduction's; null when it was not saved.
    [[nodiscard]] const entry* values(name_id name) const noexcept { return find(name, 0); }
    [[nodiscard]] const entry* reduction(name_id name, reduction_key key) const noexcept {
        return find(name, static_cast<std::uint8_t>(1 + key.index()));
    }

    /// The saved shape; of several the last.
    [[nodiscard]] const shape_entry* shape(name_id name) const noexcept {
        const auto after = std::upper_bound(shapes_.begin(), shapes_.end(), name,
                                            [](name_id id, const shape_entry& held) { return id < held.name; });
        return after != shapes_.begin() && std::prev(after)->name == name ? &*std::prev(after) : nullptr;
    }

    /// The reductions that were saved of a tensor.
    [[nodiscard]] reduction_set saved_reductions(name_id name) const noexcept {
        reduction_set saved;
        for (auto at = first_of(name); at != order_.end() && entries_[*at].name == name; ++at) {
            if (const std::uint8_t kind = entries_[*at].kind; kind > 0) {
                saved = saved | reduction_set{reduction_key::from_index(kind - std::size_t{1})};
            }
        }
        return saved;
    }

    /// Calls visit(name) for each tensor that has something here, in no order; some more than once.
    template <class Visit>
    void for_each_name(Visit&& visit) const {
        for (const entry& held : entries_) {
            visit(held.name);
        }
        for (const shape_entry& held : shapes_) {
            visit(held.name);
        }
    }

    [[nodiscard]] bool equals(const layout& other) const noexcept {
        return entries_ == other.entries_ && shapes_ == other.shapes_;
    }

    /// Heap bytes held, for reports on memory.
    [[nodiscard]] std::size_t memory() const noexcept {
        return entries_.capacity() * sizeof(entry) + order_.capacity() * sizeof(std::uint32_t) +
               shapes_.capacity() * sizeof(shape_entry);
    }

private:
    [[nodiscard]] static std::uint64_t rank(const entry& held) noexcept {
        return (std::uint64_t{held.name} << 8U) | held.kind;
    }
    [[nodiscard]] std::vector<std::uint32_t>::const_iterator first_of(name_id name) const noexcept {
        return std::lower_bound(order_.begin(), order_.end(), name,
                                [this](std::uint32_t at, name_id id) { return entries_[at].name < id; });
    }
    [[nodiscard]] const entry* find(name_id name, std::uint8_t kind) const noexcept {
        const std::uint64_t wanted = (std::uint64_t{name} << 8U) | kind;
        const auto after =
            std::upper_bound(order_.begin(), order_.end(), wanted,
                             [this](std::uint64_t r, std::uint32_t at) { return r < rank(entries_[at]); });
        if (after == order_.begin() || rank(entries_[*std::prev(after)]) != wanted) {
            return nullptr;
        }
        return &entries_[*std::prev(after)];
    }

    std::vector<entry> entries_;
    std::vector<std::uint32_t> order_;  ///< places in entries_, by name and kind
    std::vector<shape_entry> shapes_;   ///< by name
};

}  // namespace v1
}  // namespace smdebug
