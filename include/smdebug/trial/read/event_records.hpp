// The records of an event file as the file itself tells them, without an index: what verifying compares an index with.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/storage/any_storage.hpp>
#include <smdebug/wire/tensor_proto.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// One record.
struct event_record {
    byte_range where;
    status state = status::ok;  ///< what is wrong with it: its checksum, or what it holds
    step_number step = 0;       ///< global
    std::string tag = {};       ///< of its first value
    bool has_value = false;     ///< a record without one, a file's version say, belongs to no tensor
    std::optional<smdebug::mode> mode = {};
    std::optional<step_number> mode_step = {};
    std::optional<shape_type> shape = {};  ///< of a tensor
};

/// What a file holds.
struct event_records {
    std::vector<event_record> records;  ///< in the file's order, up to the first that cannot be found
    status end = status::ok;            ///< why there are no more before the file's end
    std::uint64_t end_offset = 0;       ///< where that is
};

[[nodiscard]] std::optional<step_number> whole_number(std::optional<std::string_view> text) noexcept;

/// Fills in what the payload says; the first thing that is wrong ends it.
[[nodiscard]] status read_event_facts(byte_view payload, event_record& out);

/// Reads a file from front to back, with every checksum.  `most`: size_limits::record; a larger one ends the file.
/// Errors: those of the storage; not_found where there is no such file.
/// Cost: one pass over the file.  Memory: 4 MiB or the largest record, and the result.
[[nodiscard]] event_records read_event_records(const any_storage& store, const std::string& key, std::uint64_t most);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_records.ipp>
#endif
