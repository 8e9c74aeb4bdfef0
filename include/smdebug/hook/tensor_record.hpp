// From a tensor in the caller's memory to a framed record of an event file, without a copy of its elements.
// What stands around the elements is small and goes into a buffer; a gathering write puts the two together.
#pragma once

#include <smdebug/core/error.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/field_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// A record's fields beside its tensor.
struct record_stamp {
    double wall_time = 0;  ///< seconds since 1970
    step_number step = 0;
    smdebug::mode mode = smdebug::mode::global;
    step_number mode_step = 0;
};

/// A record that has been appended to a buffer.
struct appended_record {
    std::uint64_t size = 0;       ///< of the whole record, with what was left out
    wire::omitted_bytes omitted;  ///< the elements, and where in the buffer they belong; empty where they were copied
};

/// Elements of fewer bytes are copied: a piece of a gathering write costs more than that.
inline constexpr std::size_t copied_below = 4096;

/// The largest payload that every reader of the format takes: protobuf counts the bytes of a message in 31 bits.
inline constexpr std::uint64_t largest_payload = std::numeric_limits<std::int32_t>::max();

// A tensor that no record can hold: the caller is told, and the step goes on without it.
class tensor_too_large : public unsupported {
public:
    tensor_too_large(std::string_view name, std::size_t bytes, step_number step);
};

/// Appends `tensor` as the record that the Python package writes for it, byte for byte; its elements are left out where
/// they have at least `copied_below` bytes.  A record above `largest_payload` has size 0, and nothing is appended.
/// Borrows: the elements that were left out.      Cost: some hundred nanoseconds, and a pass over the elements where
/// the footer is a checksum.
[[nodiscard]] appended_record append_tensor_record(std::vector<std::byte>& out, std::string_view name,
                                                   const tensor_view& tensor, const record_stamp& stamp,
                                                   record::footer_kind footer);

}  // namespace detail
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/hook/impl/tensor_record.ipp>
#endif
