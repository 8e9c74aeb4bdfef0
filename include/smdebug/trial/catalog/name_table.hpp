// The names of a run's tensors and their numbers.  Names outside, numbers inside.
#pragma once

#include <smdebug/core/form.hpp>
#include <smdebug/core/shared_list.hpp>
#include <smdebug/core/sorted_blocks.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A tensor's name as a number: its place in the order in which names were first seen.
using name_id = std::uint32_t;

/// Names and their numbers, immutable; name_table_builder makes the next one.  A number stays what it is.
/// Threads: const calls may run at once.  Copies share the names.
class name_table {
public:
    /// The number of a name, be it a tensor's or only the original name of one.
    [[nodiscard]] std::optional<name_id> find(std::string_view name) const noexcept;
    /// The same for tensors alone.
    [[nodiscard]] std::optional<name_id> find_tensor(std::string_view name) const noexcept;
    [[nodiscard]] const std::string& operator[](name_id id) const noexcept { return *by_id_[id]; }
    [[nodiscard]] std::size_t size() const noexcept { return by_id_.size(); }

    /// Heap bytes held, about.
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

/// Collects names and makes the table that holds them and those of the one before.
class name_table_builder {
public:
    explicit name_table_builder(std::shared_ptr<const name_table> base) : base_(std::move(base)) {}

    /// The number of a name, a new one if need be.
    [[nodiscard]] name_id id_of(std::string_view name);
    [[nodiscard]] const std::string& text_of(name_id id) const noexcept {
        return id < base_->size() ? (*base_)[id] : *fresh_[id - base_->size()].text;
    }
    [[nodiscard]] std::size_t size() const noexcept { return base_->size() + fresh_.size(); }
    /// Notes that a name is a tensor's.
    void mark_tensor(name_id id);

    /// The table with everything so far; the one before where nothing is new.
    [[nodiscard]] std::shared_ptr<const name_table> finish() &&;

private:
    std::shared_ptr<const name_table> base_;
    std::vector<name_table::named> fresh_;     // in the order of their numbers
    std::vector<name_table::named> promoted_;  // names of the base that have become tensors'
    std::unordered_map<std::string_view, name_id> fresh_ids_;
};

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/catalog/impl/name_table.ipp>
#endif
