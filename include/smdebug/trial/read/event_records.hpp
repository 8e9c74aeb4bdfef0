// The records of an event file as the file itself tells them, without an index: what verifying compares an index with.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/reader.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/read/event_source.hpp>
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
template <storage Storage>
[[nodiscard]] event_records read_event_records(const Storage& store, const std::string& key, std::uint64_t most) {
    piecewise_event_file file{store, key, std::uint64_t{4} << 20U};
    event_records read;
    const auto end_with = [&](status why) { read.end = why; };
    while (true) {
        const byte_view head = file.at({read.end_offset, record::header_size});
        if (head.empty()) {
            return read;
        }
        if (head.size() < record::header_size) {
            end_with(status::truncated);
            return read;
        }
        const record::detail::header claimed = record::load_header(head.data());
        const auto size = record::framed_size(claimed.length);
        if (!claimed.valid() || !size || *size > most) {
            end_with(claimed.valid() ? status::too_large : status::bad_length_checksum);
            return read;
        }
        const auto whole = record::read_record(file.at({read.end_offset, *size}), crc_check::full);
        if (!whole.ok() && whole.code() != status::bad_payload_checksum) {
            end_with(whole.code());
            return read;
        }
        event_record next{.where = {read.end_offset, *size}, .state = whole.code()};
        if (whole.ok()) {
            next.state = detail::read_event_facts(whole->payload, next);
        }
        read.records.push_back(std::move(next));
        read.end_offset += *size;
    }
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/trial/read/impl/event_records.ipp>
#endif
