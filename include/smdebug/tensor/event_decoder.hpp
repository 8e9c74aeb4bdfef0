// The decoder of the Python package's event files: record -> Event -> Summary -> value -> TensorProto -> tensor.
// The one header of tensor/ that knows of records: it is where framing and wire format meet.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/record/reader.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/proto_decoder.hpp>
#include <smdebug/tensor/tensor_view.hpp>
#include <smdebug/wire/event.hpp>
#include <smdebug/wire/summary.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/tensor_shape.hpp>
#include <smdebug/wire/usual_event.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

/// The first value of `summary` with the tag `name`, or the first one of all for an empty `name`.
/// Errors: no_value where the summary has no values, wrong_tensor where it has only others.
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

/// Where the elements of a record lie, for who does not want all of it in memory.
struct record_parts {
    std::string_view name;  ///< borrows the record's head
    dtype type = dtype::invalid;
    shape_type shape;
    std::uint64_t content = 0;       ///< where they begin in the record
    std::uint64_t content_size = 0;  ///< bytes of them
    std::uint64_t size = 0;          ///< bytes of the record
};

/// Optional: plan() and ends_well() of a decoder tell that, see event_decoder.
template <class D>
concept planning_decoder = requires(byte_view bytes, std::uint64_t size, std::string_view name, record_parts& parts,
                                    std::optional<std::uint32_t>& checksum) {
    { D::plan(bytes, size, name, parts) } -> std::same_as<bool>;
    { D::ends_well(bytes, checksum) } -> std::same_as<bool>;
};

/// An Event's bytes to a tensor.  Statuses are those of wire/: truncated means that a field reaches too far.
[[nodiscard]] inline status decode_event_tensor(byte_view message, std::string_view name, decoded_tensor& out,
                                                std::size_t* repeats) {
    if (wire::usual_event usual; wire::match_usual_event(message, usual)) {
        if (!name.empty() && usual.tag != name) {
            return status::wrong_tensor;
        }
        const status decoded = decode_tensor(usual.tensor, out, repeats);
        out.name = usual.tag;
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
    return decoded;
}

}  // namespace detail

/// Decodes records of event files; models tensor_decoder.  Stateless: copies are free, any thread may use it.
/// Reads the first record in the bytes, and in it the first value of the name asked for (the first of all for an empty
/// name).  A scalar summary is a 0-d float32 tensor; histograms, images and audio are unsupported.
/// Errors:  truncated only where the record itself is cut, since only then more bytes can help: a message that ends
///          too early within a whole record is malformed.  bad_length_checksum, bad_payload_checksum as `Check` says;
///          no_value, wrong_tensor, unsupported, size_mismatch, too_large as in status.
/// Borrows: the record's bytes, in `out`.
/// Cost:    per record, not per element, where elements lie in tensor_content; `Check` may add a pass (read_record).
template <crc_check Check = crc_check::full>
class event_decoder {
public:
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out) const {
        const result<record::detail::record_view> found = record::read_record(bytes, Check);
        return found.ok() ? decode_payload(found->payload, expected_name, out, nullptr) : found.code();
    }

    /// The same, but where many elements lie in the record their checksum is left to the caller, who is going to touch
    /// them anyway: `out` is to be believed when later.holds().
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later) const {
        return decode_deferring(bytes, expected_name, out, later, nullptr);
    }

    /// The same, but of a last value that repeats for long only some is written, and `repeats` elements more are left
    /// out: see repeated_block.
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later, std::size_t& repeats) const {
        repeats = 0;
        return decode_deferring(bytes, expected_name, out, later, &repeats);
    }

    static constexpr std::size_t head_size = record::header_size;
    /// Bytes of the record that begins with `head`.  Errors: truncated, bad_length_checksum (as `Check` says),
    /// too_large.
    [[nodiscard]] static result<std::uint64_t> record_size(byte_view head) noexcept {
        if (head.size() < record::header_size) {
            return status::truncated;
        }
        const record::detail::header found = record::load_header(head.data());
        if (Check != crc_check::none && !found.valid()) {
            return status::bad_length_checksum;
        }
        const auto size = record::framed_size(found.length);
        return size ? result<std::uint64_t>{*size} : status::too_large;
    }

    /// Fills `out` where the elements of a record of at most `size` bytes, which begins with `head`, are the bytes of
    /// one part of it, and the record is that of the tensor `name` (empty: of any).  False for any other, and for what is
    /// damaged: decode() tells.
    [[nodiscard]] static bool plan(byte_view head, std::uint64_t size, std::string_view name,
                                   detail::record_parts& out) {
        const result<std::uint64_t> framed = record_size(head);
        detail::wire::usual_head usual;
        if (!framed.ok() || *framed > size ||
            !detail::wire::match_usual_head(head.subspan(record::header_size), *framed - record::overhead, usual) ||
            (!name.empty() && usual.tag != name) ||
            detail::wire::decode_tensor_shape(usual.shape, out.shape) != status::ok) {
            return false;
        }
        out.type = dtype_from_code(usual.dtype_code);
        const std::optional<std::size_t> count = element_count(out.shape);
        // Booleans have to be looked at one by one.
        if (!is_numeric(out.type) || out.type == dtype::boolean || !count ||
            usual.content_size % size_of(out.type) != 0 || usual.content_size / size_of(out.type) != *count) {
            return false;
        }
        out.name = usual.tag;
        out.content = record::header_size + usual.content;
        out.content_size = usual.content_size;
        out.size = *framed;
        return true;
    }

    /// Whether what follows the elements is as it should be; `checksum` is then what the payload's is to be, or nothing
    /// where nobody asks.
    [[nodiscard]] static bool ends_well(byte_view tail, std::optional<std::uint32_t>& checksum) noexcept {
        if (tail.size() < record::footer_size) {
            return false;
        }
        const byte_view metadata = tail.first(tail.size() - record::footer_size);
        const auto footer = load_le<std::uint32_t>(tail.data() + metadata.size());
        checksum.reset();
        if (Check == crc_check::full && footer != record::package_footer) {
            checksum = footer;
        }
        return detail::wire::is_usual_tail(metadata);
    }

    /// "event_decoder<full>".
    [[nodiscard]] static std::string name() { return "event_decoder<" + std::string{name_of(Check)} + ">"; }

private:
    [[nodiscard]] static status decode_deferring(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                                 record::payload_check& later, std::size_t* repeats) {
        later = {};
        const result<record::detail::record_view> found =
            record::read_record(bytes, Check == crc_check::full ? crc_check::length_only : Check);
        if (!found.ok()) {
            return found.code();
        }
        const status decoded = decode_payload(found->payload, expected_name, out, repeats);
        if constexpr (Check == crc_check::full) {
            record::payload_check check{found->payload};
            constexpr std::size_t many = std::size_t{32} << 10U;  // fewer stay in L1
            if (decoded == status::ok && !out.owns_elements() && out.bytes.size() >= many) {
                later = check;
            } else if (!check.holds()) {
                return status::bad_payload_checksum;
            }
        }
        return decoded;
    }

    [[nodiscard]] static status decode_payload(byte_view payload, std::string_view expected_name, decoded_tensor& out,
                                               std::size_t* repeats) {
        const status decoded = detail::decode_event_tensor(payload, expected_name, out, repeats);
        return decoded == status::truncated ? status::malformed : decoded;
    }
};

static_assert(tensor_decoder<event_decoder<>> && deferring_decoder<event_decoder<>>);
static_assert(repeating_decoder<event_decoder<>>);
static_assert(sizing_decoder<event_decoder<>>);
static_assert(detail::planning_decoder<event_decoder<>>);

}  // namespace v1
}  // namespace smdebug
