// From a tensor in the caller's memory to a framed record of an event file, without a copy of its elements.
// What stands around the elements is small and goes into a buffer; a gathering write puts the two together.
// Used by: hook (step_writer).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/error.hpp>
#include <smdebug/core/step.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/writer.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/event.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {

/// What a record says beside its tensor.
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

namespace detail {

// A tensor that no record can hold: the caller is told, and the step goes on without it.
class tensor_too_large : public unsupported {
public:
    tensor_too_large(std::string_view name, std::size_t bytes, step_number step)
        : unsupported("the tensor \"" + std::string{name} + "\" has " + std::to_string(bytes) +
                          " bytes; a record holds 2 GiB at most: save its reductions, or save it in parts",
                      {.tensor = std::string{name}, .step = step}) {}
};

}  // namespace detail

/// Appends `tensor` as the record that the Python package writes for it, byte for byte; its elements are left out where
/// they have at least `copied_below` bytes.  A record above `largest_payload` has size 0, and nothing is appended.
/// Borrows: the elements that were left out.      Cost: some hundred nanoseconds, and a pass over the elements where
/// the footer is a checksum.
[[nodiscard]] inline appended_record append_tensor_record(std::vector<std::byte>& out, std::string_view name,
                                                          const tensor_view& tensor, const record_stamp& stamp,
                                                          record::footer_kind footer) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), stamp.mode_step).ptr;
    const char mode_digit = static_cast<char>('0' + static_cast<int>(stamp.mode));
    const std::array plugins{
        wire::plugin_data{"mode_step", {digits.data(), static_cast<std::size_t>(end - digits.data())}},
        wire::plugin_data{"mode", {&mode_digit, 1}}};
    const std::array values{wire::value_fields{
        .tag = name,
        .tensor = {.type = tensor.type == dtype::string ? dtype::invalid : tensor.type,  // as the package has strings
                   .shape = {.extents = tensor.shape, .dim_name = name},
                   .content = tensor.bytes,
                   .strings = tensor.strings},
        .plugins = plugins}};
    const wire::event_fields event{
        .wall_time = stamp.wall_time, .step = stamp.step, .file_version = {}, .values = values};

    const std::uint64_t length = wire::encoded_size(event);
    if (length > largest_payload) {
        return {};
    }
    appended_record appended;
    appended.size = length + record::overhead;
    const std::size_t begin = out.size();
    out.resize(begin + record::header_size);
    record::store_header(out.data() + begin, record::header::of(length));
    if (tensor.bytes.size() < copied_below) {
        wire::field_writer writer{out};
        wire::encode(writer, event);
    } else {
        wire::field_writer writer{out, appended.omitted};
        wire::encode(writer, event);
    }
    std::uint32_t closing = record::package_footer;
    if (footer == record::footer_kind::checksum) {
        namespace crc32c = record::crc32c;
        const byte_view around = byte_view{out}.subspan(begin + record::header_size);
        const std::size_t front =
            appended.omitted.bytes.empty() ? around.size() : appended.omitted.at - begin - record::header_size;
        closing = crc32c::mask(crc32c::extend(
            crc32c::extend(crc32c::value(around.first(front)), appended.omitted.bytes), around.subspan(front)));
    }
    out.resize(out.size() + record::footer_size);
    store_le(out.data() + out.size() - record::footer_size, closing);
    return appended;
}

}  // namespace v1
}  // namespace smdebug
