// The decoder of the Python package's event files: record -> Event -> Summary -> value -> TensorProto -> tensor.
// The one header of tensor/ that knows of records: it is where framing and wire format meet.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/dtype.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/shape.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/tensor/concepts.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail {

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
[[nodiscard]] status decode_event_tensor(byte_view message, std::string_view name, decoded_tensor& out,
                                         std::size_t* repeats);

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
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out) const;

    /// The same, but where many elements lie in the record their checksum is left to the caller, who is going to touch
    /// them anyway: `out` is to be believed when later.holds().
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later) const;

    /// The same, but of a last value that repeats for long only some is written, and `repeats` elements more are left
    /// out: see repeated_block.
    [[nodiscard]] status decode(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                record::payload_check& later, std::size_t& repeats) const;

    /// Bytes of a record before its payload.
    static constexpr std::size_t head_size = 12;
    /// Bytes of the record that begins with `head`.  Errors: truncated, bad_length_checksum (as `Check` says),
    /// too_large.
    [[nodiscard]] static result<std::uint64_t> record_size(byte_view head) noexcept;

    /// Fills `out` where the elements of a record of at most `size` bytes, which begins with `head`, are the bytes of
    /// one part of it, and the record is that of the tensor `name` (empty: of any).  False for any other, and for what is
    /// damaged: decode() tells.
    [[nodiscard]] static bool plan(byte_view head, std::uint64_t size, std::string_view name,
                                   detail::record_parts& out);

    /// Whether what follows the elements is as it should be; `checksum` is then what the payload's is to be, or nothing
    /// where nobody asks.
    [[nodiscard]] static bool ends_well(byte_view tail, std::optional<std::uint32_t>& checksum) noexcept;

    /// "event_decoder<full>".
    [[nodiscard]] static std::string name();

private:
    [[nodiscard]] static status decode_deferring(byte_view bytes, std::string_view expected_name, decoded_tensor& out,
                                                 record::payload_check& later, std::size_t* repeats);

    [[nodiscard]] static status decode_payload(byte_view payload, std::string_view expected_name, decoded_tensor& out,
                                               std::size_t* repeats);
};

}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/tensor/impl/event_decoder.ipp>
#include <smdebug/tensor/impl/event_decoder.tpp>
#endif
