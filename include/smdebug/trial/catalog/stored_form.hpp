// How a tensor is stored that does not lie in a record of an event file: what a catalog knows of the data of other tools.
#pragma once

#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

enum class storage_form : std::uint8_t {
    record,            ///< a record of an event file, which says itself what it holds
    number,            ///< in the catalog
    elements,          ///< their bytes alone, in an object
    message,           ///< a TensorProto without a record around it, in an object
    histogram,         ///< a HistogramProto: its rows are the values
    histogram_tensor,  ///< a TensorProto of such rows
    made,              ///< by a function
};

/// How one tensor is stored.  `type` and `shape` are known but for records and messages.
struct stored_form {
    storage_form as = storage_form::record;
    dtype type = dtype::invalid;
    bool big_endian = false;     ///< of `elements`: the bytes of each stand in the other order
    bool columns_first = false;  ///< of `elements`: the first extent is the fastest
    shape_type shape = {};
    std::function<std::vector<std::byte>()> make = {};  ///< of `made`: exactly the elements; on any thread

    /// Whether the bytes of the object are the elements as they are in memory.
    [[nodiscard]] bool is_plain() const noexcept {
        return as == storage_form::elements && !big_endian && !columns_first;
    }
    /// Functions are never the same.
    friend bool operator==(const stored_form& a, const stored_form& b) {
        return a.as == b.as && a.type == b.type && a.big_endian == b.big_endian && a.columns_first == b.columns_first &&
               a.shape == b.shape && a.as != storage_form::made;
    }
};

/// A number that the catalog keeps, and when it was written, in seconds since 1970.  Of what is stored elsewhere only the time
/// counts.
struct timed_number {
    double value = 0;
    double wall_time = 0;
};

/// The forms of a layout's items.  Immutable.
class form_list {
public:
    /// `of_item`: one an item, in a table whose elements stay where they are as long as `table` is held.
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

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
