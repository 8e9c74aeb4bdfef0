// How a tensor that is not an event record is stored: what a catalog knows about other tools' data.
#pragma once

#include <smdebug/core/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace smdebug::inline v1::detail {

enum class storage_form : std::uint8_t {
    record,            ///< a record of an event file, which describes itself
    number,            ///< in the catalog
    elements,          ///< the plain bytes, in an object
    message,           ///< a TensorProto without a record around it, in an object
    histogram,         ///< a HistogramProto: its rows are the values
    histogram_tensor,  ///< a TensorProto of such rows
    made,              ///< by a function
};

/// How one tensor is stored.  `type` and `shape` are known except for records and messages.
struct stored_form {
    storage_form as = storage_form::record;
    dtype type = dtype::invalid;
    bool big_endian = false;    ///< for `elements`: the bytes of each are swapped
    bool column_major = false;  ///< for `elements`: the first index varies fastest
    shape_type shape = {};
    std::function<std::vector<std::byte>()> make = {};  ///< for `made`: returns exactly the elements; on any thread

    /// Whether the object's bytes are the elements as they are in memory.
    [[nodiscard]] bool is_plain() const noexcept {
        return as == storage_form::elements && !big_endian && !column_major;
    }
    /// Forms with functions are never equal.
    friend bool operator==(const stored_form& a, const stored_form& b) {
        return a.as == b.as && a.type == b.type && a.big_endian == b.big_endian && a.column_major == b.column_major &&
               a.shape == b.shape && a.as != storage_form::made;
    }
};

/// A number that the catalog stores, and when it was written, in seconds since 1970.  For data stored elsewhere only
/// the time is used.
struct timed_number {
    double value = 0;
    double wall_time = 0;
};

}  // namespace smdebug::inline v1::detail
