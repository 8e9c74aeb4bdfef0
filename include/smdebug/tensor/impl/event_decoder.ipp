// The bodies of <smdebug/tensor/event_decoder.hpp>.
#pragma once

#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/usual_event.hpp>

namespace smdebug::inline v1::detail {

/// The first value of `summary` with the tag `name`, or the first one of all for an empty `name`.
/// Errors: no_value if the summary has no values, wrong_tensor if it has only others.
[[nodiscard]] inline result<wire::summary_value> find_value(byte_view summary, std::string_view name) noexcept {
    status missing = status::no_value;
    wire::summary_reader values{summary};
    for (wire::summary_value value; values.next(value);) {
        if (name.empty() || value.tag == name) {
            return value;
        }
        missing = status::wrong_tensor;
    }
    return values.code() == status::ok ? missing : values.code();
}

/// A scalar summary: a 0-d float32 tensor.
inline void decode_simple(float value, decoded_tensor& out) {
    clear(out);
    out.type = dtype::float32;
    out.expanded.resize(sizeof(float));
    store_le(out.expanded.data(), value);
    out.bytes = out.expanded;
}

SMDEBUG_INLINE status decode_event_tensor(byte_view message, std::string_view name, decoded_tensor& out,
                                          std::size_t* repeats) {
    if (wire::usual_event usual; wire::match_usual_event(message, usual)) {
        if (!name.empty() && !is_same_text(usual.tag, name)) {
            return status::wrong_tensor;
        }
        const status decoded = decode_tensor(usual.tensor, out, repeats);
        out.name = usual.tag;
        out.wall_time = usual.wall_time;
        return decoded;
    }
    const result<wire::event> event = wire::decode_event(message);
    if (!event.ok()) {
        return event.code();
    }
    const result<wire::summary_value> value = find_value(event->summary.value_or(byte_view{}), name);
    if (!value.ok()) {
        return value.code();
    }
    status decoded = status::ok;
    if (value->kind == wire::value_kind::tensor) {
        const result<wire::tensor_proto> tensor = wire::decode_tensor_proto(value->tensor);
        decoded = tensor.ok() ? decode_tensor(*tensor, out, repeats) : tensor.code();
    } else if (value->kind == wire::value_kind::simple_value) {
        decode_simple(value->simple_value, out);
    } else {
        return value->kind == wire::value_kind::none ? status::no_value : status::unsupported;
    }
    out.name = value->tag;
    out.wall_time = event->wall_time;
    return decoded;
}

}  // namespace smdebug::inline v1::detail
