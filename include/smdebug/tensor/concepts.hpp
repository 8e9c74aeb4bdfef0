// The front door of tensor/: what a tensor decoder is.
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

namespace smdebug {
inline namespace v1 {

/// decode(record, name, out): the part that turns bytes into a tensor.
template <class D>
concept record_decoder =
    requires(const D& decoder, byte_view record, std::string_view expected_name, decoded_tensor& out) {
        { decoder.decode(record, expected_name, out) } -> std::same_as<status>;
    };

/// name(): what an object of this policy calls itself in a trial's name.
template <class D>
concept named_decoder = requires(const D& decoder) {
    { decoder.name() } -> std::convertible_to<std::string>;
};

/// Turns the bytes that an index entry names into a tensor.  A type D models `tensor_decoder` when:
///  1. decode(record, name, out) reads the FIRST record in `record`, fills `out` and returns status::ok, or returns
///     what is wrong; `out` is then unspecified but may be used again;
///  2. it returns status::wrong_tensor when the record names another tensor than `name` (an empty name accepts any);
///  3. on ok, out.view() keeps the promises of tensor_view: the byte count is the element count times the dtype's size;
///  4. no input makes it read outside `record`, and a length in the data is believed only after it was checked against
///     the bytes that are there; const calls may run at once on many threads, each with its own `out`.
/// Not promised: that anything in `out` outlives the record's bytes, but for what out.owner keeps alive.
template <class D>
concept tensor_decoder = std::copy_constructible<D> && record_decoder<D> && named_decoder<D>;

/// Optional: decode(record, name, out, later) leaves the payload's checksum to the caller where that saves a pass over
/// memory; `out` is to be believed when later.holds().
template <class D>
concept deferring_decoder = requires(const D& decoder, byte_view record, std::string_view expected_name,
                                     decoded_tensor& out, record::payload_check& later) {
    { decoder.decode(record, expected_name, out, later) } -> std::same_as<status>;
};

/// Optional: decode(record, name, out, later, repeats) is the same for tensors whose last value repeats for long:
/// `repeats` elements are left out of `out.bytes`, and those that are there are as repeated_block has it.
template <class D>
concept repeating_decoder =
    deferring_decoder<D> && requires(const D& decoder, byte_view record, std::string_view expected_name,
                                     decoded_tensor& out, record::payload_check& later, std::size_t& repeats) {
        { decoder.decode(record, expected_name, out, later, repeats) } -> std::same_as<status>;
    };

/// Optional: record_size(head) tells from the first head_size bytes of a record how long it is, or why nobody can say:
/// large records are then read no further than that, whatever an index file claims.
template <class D>
concept sizing_decoder = requires(const D& decoder, byte_view head) {
    { D::head_size } -> std::convertible_to<std::uint64_t>;
    { decoder.record_size(head) } -> std::same_as<result<std::uint64_t>>;
};

/// Decodes the first record in `bytes`, which has to be that of the tensor `name`: an empty name is a name like others.
/// `later`: none, or as deferring_decoder or repeating_decoder has it.
template <record_decoder Decoder, class... Later>
[[nodiscard]] status decode_named(const Decoder& decoder, byte_view bytes, std::string_view name, decoded_tensor& out,
                                  Later&... later) {
    const status outcome = decoder.decode(bytes, name, out, later...);
    return outcome == status::ok && name.empty() && !out.name.empty() ? status::wrong_tensor : outcome;
}

}  // namespace v1
}  // namespace smdebug
