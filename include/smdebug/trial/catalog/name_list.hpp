// The names in one index file, in numbers: which tensors, which reductions of them, in which order.
// Steps differ in where their tensors lie far more often than in which tensors they have: layouts share these.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/reduce/name.hpp>
#include <smdebug/trial/catalog/name_table.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// What a tensor's name in an index file stands for: the tensor's own values, or one reduction of them.
struct recorded_name {
    std::string_view tensor;
    std::optional<reduction_key> reduction;
};

/// "smdebug/reductions/abs_mean/dense/kernel:0" is abs_mean of "dense/kernel:0".  The prefix counts at the front alone,
/// where every hook writes it (decisions.md D31); a name whose reduction is unknown is a tensor like any other.  So
/// reduction_tensor_name() makes the recorded name again.
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
    std::uint8_t kind = 0;  ///< 0: the values; 1 + reduction_key::index(): a saved reduction
    friend constexpr bool operator==(const recorded_item&, const recorded_item&) = default;
};

/// The kind of an item.
[[nodiscard]] constexpr std::uint8_t kind_of(const std::optional<reduction_key>& reduction) noexcept {
    return static_cast<std::uint8_t>(reduction ? 1 + reduction->index() : 0);
}

/// The names of an index file's entries in the file's order, and those that only have a shape.
class name_list {
public:
    name_list() = default;
    using names_sorter = function_ref<void(std::vector<name_id>&)>;

    /// `sort_by_text(names)` puts names in the order of their texts, for tensors().
    name_list(std::vector<recorded_item> items, std::vector<name_id> shapes, names_sorter sort_by_text);

    [[nodiscard]] std::span<const recorded_item> items() const noexcept { return items_; }
    /// The tensors whose shape was saved, by number.
    [[nodiscard]] std::span<const name_id> shapes() const noexcept { return shapes_; }
    /// Every tensor that has anything here, each once, in the order of their names' texts.
    [[nodiscard]] std::span<const name_id> tensors() const noexcept { return tensors_; }

    /// Whether no reduction was saved of any tensor.
    [[nodiscard]] bool values_alone() const noexcept { return values_alone_; }

    [[nodiscard]] bool contains(name_id name) const noexcept;
    /// The place of a name's item of a kind; of several the last.
    [[nodiscard]] std::optional<std::size_t> find(name_id name, std::uint8_t kind) const noexcept;
    /// The reductions that were saved of a tensor.
    [[nodiscard]] reduction_set saved_reductions(name_id name) const noexcept;
    /// Whether a tensor's turn, in a walk in the file's order, is at this item: at its values (of several the last),
    /// else at the first of its reductions in the order of reduction_key::index().
    [[nodiscard]] bool leads(std::size_t place) const noexcept;

    [[nodiscard]] bool equals(std::span<const recorded_item> items, std::span<const name_id> shapes) const noexcept;

    /// Heap bytes held.
    [[nodiscard]] std::size_t memory() const noexcept;

private:
    // By name, then kind, then place: of entries that are equal in both the last one counts (decisions.md D28).
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/name_list.ipp>
#endif
