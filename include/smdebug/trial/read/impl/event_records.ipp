// The bodies of <smdebug/trial/read/event_records.hpp>.
#pragma once

#include <smdebug/record/crc_check.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/reader.hpp>
#include <smdebug/trial/read/event_records.hpp>
#include <smdebug/trial/read/event_source.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/summary.hpp>
#include <smdebug/wire/tensor_shape.hpp>

#include <charconv>

namespace smdebug {
inline namespace v1 {
namespace detail {

SMDEBUG_INLINE std::optional<step_number> whole_number(std::optional<std::string_view> text) noexcept {
    step_number number = 0;
    if (!text || text->empty()) {
        return std::nullopt;
    }
    const auto read = std::from_chars(text->data(), text->data() + text->size(), number);
    return read.ec == std::errc{} && read.ptr == text->data() + text->size() ? std::optional{number} : std::nullopt;
}

SMDEBUG_INLINE status read_event_facts(byte_view payload, event_record& out) {
    const result<wire::event> event = wire::decode_event(payload);
    if (!event.ok()) {
        return status::malformed;
    }
    out.step = event->step;
    wire::summary_reader values{event->summary.value_or(byte_view{})};
    wire::summary_value value;
    if (!values.next(value)) {
        return values.code() == status::ok ? status::ok : status::malformed;
    }
    out.has_value = true;
    out.tag = value.tag;
    const auto in = whole_number(wire::find_plugin(value.metadata, "mode"));
    if (in && *in >= static_cast<int>(mode::train) && *in <= static_cast<int>(mode::global)) {
        out.mode = static_cast<smdebug::mode>(*in);
    }
    out.mode_step = whole_number(wire::find_plugin(value.metadata, "mode_step"));
    if (value.kind == wire::value_kind::tensor) {
        const result<wire::tensor_proto> tensor = wire::decode_tensor_proto(value.tensor);
        shape_type shape;
        if (!tensor.ok() || (tensor->shape && wire::decode_tensor_shape(*tensor->shape, shape) != status::ok)) {
            return status::malformed;
        }
        if (tensor->shape) {
            out.shape = std::move(shape);
        }
    }
    return status::ok;
}

SMDEBUG_INLINE event_records read_event_records(const any_storage& store, const std::string& key, std::uint64_t most) {
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
