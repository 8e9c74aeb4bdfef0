// The bodies of <smdebug/tensor/event_decoder.hpp> that are templates.
#pragma once

#include <smdebug/record/framing.hpp>
#include <smdebug/tensor/event_decoder.hpp>
#include <smdebug/wire/tensor_proto.hpp>
#include <smdebug/wire/usual_event.hpp>

namespace smdebug::inline v1 {

template <crc_check Check>
status event_decoder<Check>::decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out) const {
    const result<record::detail::record_view> found = record::read_record(bytes, Check);
    return found.ok() ? decode_payload(found->payload, expected_name, out, nullptr) : found.code();
}

template <crc_check Check>
status event_decoder<Check>::decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                    record::payload_check& later) const {
    return decode_deferring(bytes, expected_name, out, later, nullptr);
}

template <crc_check Check>
status event_decoder<Check>::decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                    record::payload_check& later, std::size_t& repeats) const {
    repeats = 0;
    return decode_deferring(bytes, expected_name, out, later, &repeats);
}

template <crc_check Check>
result<std::uint64_t> event_decoder<Check>::record_size(byte_view head) noexcept {
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

template <crc_check Check>
bool event_decoder<Check>::plan(byte_view head, std::uint64_t size, std::string_view name, detail::record_parts& out) {
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
    // Booleans must be checked one by one.
    if (!is_numeric(out.type) || out.type == dtype::boolean || !count || usual.content_size % size_of(out.type) != 0 ||
        usual.content_size / size_of(out.type) != *count) {
        return false;
    }
    out.name = usual.tag;
    out.content = record::header_size + usual.content;
    out.content_size = usual.content_size;
    out.size = *framed;
    return true;
}

template <crc_check Check>
bool event_decoder<Check>::ends_well(byte_view tail, std::optional<std::uint32_t>& checksum) noexcept {
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

template <crc_check Check>
std::string event_decoder<Check>::name() {
    return "event_decoder<" + std::string{name_of(Check)} + ">";
}

template <crc_check Check>
status event_decoder<Check>::decode_deferring(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
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

template <crc_check Check>
status event_decoder<Check>::decode_payload(byte_view payload, std::string_view expected_name, decoded_tensor& out,
                                            std::size_t* repeats) {
    const status decoded = detail::decode_event_tensor(payload, expected_name, out, repeats);
    return decoded == status::truncated ? status::malformed : decoded;
}

static_assert(tensor_decoder<event_decoder<>> && deferring_decoder<event_decoder<>>);
static_assert(repeating_decoder<event_decoder<>>);
static_assert(sizing_decoder<event_decoder<>>);
static_assert(detail::planning_decoder<event_decoder<>>);
static_assert(event_decoder<>::head_size == record::header_size);

}  // namespace smdebug::inline v1
