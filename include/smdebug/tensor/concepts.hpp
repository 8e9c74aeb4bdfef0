// The concepts of tensor/: what a tensor decoder is.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/payload_check.hpp>
#include <smdebug/tensor/tensor_view.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smdebug::inline v1 {

/// decode(record, name, out): turns bytes into a tensor.
template <class Candidate>
concept record_decoder =
    requires(const Candidate& decoder, byte_view record, std::string_view expected_name, decoded_tensor& out) {
        { decoder.decode(record, expected_name, out) } -> std::same_as<status>;
    };

/// name(): the policy's part of a trial's name.
template <class Candidate>
concept named_decoder = requires(const Candidate& decoder) {
    { decoder.name() } -> std::convertible_to<std::string>;
};

/// Turns the bytes that an index entry names into a tensor.  A type D models `tensor_decoder` when:
///  1. decode(record, name, out) reads the FIRST record in `record`, fills `out` and returns status::ok, or returns
///     what is wrong; `out` is then unspecified but may be used again;
///  2. it returns status::wrong_tensor when the record names another tensor than `name` (an empty name accepts any);
///  3. on ok, out.view() keeps the promises of tensor_view: the byte count is the element count times the dtype's size;
///  4. no input makes it read outside `record`, and a length in the data is used only after it was checked against
///     the available bytes; const calls may run concurrently on many threads, each with its own `out`.
/// Not promised: that anything in `out` outlives the record's bytes, except what out.owner keeps alive.
template <class Candidate>
concept tensor_decoder = std::copy_constructible<Candidate> && record_decoder<Candidate> && named_decoder<Candidate>;

/// Optional: decode(record, name, out, later) leaves the payload's checksum to the caller if that saves a pass over
/// memory; `out` is valid once later.holds().
template <class Candidate>
concept deferring_decoder = requires(const Candidate& decoder, byte_view record, std::string_view expected_name,
                                     decoded_tensor& out, record::payload_check& later) {
    { decoder.decode(record, expected_name, out, later) } -> std::same_as<status>;
};

/// Optional: decode(record, name, out, later, repeats) is the same for tensors with a long trailing repeat of one
/// value: `repeats` elements are left out of `out.bytes`, and the rest is as repeated_block describes.
template <class Candidate>
concept repeating_decoder =
    deferring_decoder<Candidate> && requires(const Candidate& decoder, byte_view record, std::string_view expected_name,
                                             decoded_tensor& out, record::payload_check& later, std::size_t& repeats) {
        { decoder.decode(record, expected_name, out, later, repeats) } -> std::same_as<status>;
    };

/// Optional: record_size(head) returns a record's length from its first head_size bytes, or why it is unknown: large
/// records are then read no further than that, whatever an index file claims.
template <class Candidate>
concept sizing_decoder = requires(const Candidate& decoder, byte_view head) {
    { Candidate::head_size } -> std::convertible_to<std::uint64_t>;
    { decoder.record_size(head) } -> std::same_as<result<std::uint64_t>>;
};

/// Decodes the first record in `bytes`, which must be that of the tensor `name`: here an empty name is a name like any
/// other.  `later`: none, or as in deferring_decoder or repeating_decoder.
template <record_decoder Decoder, class... Later>
[[nodiscard]] status decode_named(const Decoder& decoder, byte_view bytes, std::string_view name, decoded_tensor& out,
                                  Later&... later) {
    const status outcome = decoder.decode(bytes, name, out, later...);
    return outcome == status::ok && name.empty() && !out.name.empty() ? status::wrong_tensor : outcome;
}

}  // namespace smdebug::inline v1
