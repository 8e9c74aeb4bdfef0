// Making protobuf messages by hand, for the tests of wire and tensor.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/wire/field.hpp>

#include "support/standard.hpp"

namespace messages {

using bytes = std::vector<std::byte>;

/// The bytes of a literal, which may hold zeros: "\x08\x00"sv.
inline bytes of(std::string_view text) {
    const auto view = smdebug::as_bytes(text);
    return {view.begin(), view.end()};
}

/// What `write(field_writer&)` writes.
template <class F>
bytes written(F&& write) {
    bytes out;
    smdebug::detail::wire::field_writer writer{out};
    write(writer);
    return out;
}

/// The first `size` bytes in a block of their own: a sanitizer then sees every read beyond them.
inline bytes prefix(const bytes& whole, std::size_t size) {
    return {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)};
}

inline bytes flipped(bytes whole, std::size_t bit) {
    whole[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    return whole;
}

/// Values one behind the other, little-endian: a packed list of fixed-size numbers, or content.
template <class T>
bytes packed(const std::vector<T>& values) {
    const auto view = std::as_bytes(std::span{values});
    return {view.begin(), view.end()};
}

/// A packed list of varints.
inline bytes packed_varints(const std::vector<std::uint64_t>& values) {
    bytes out;
    for (const std::uint64_t value : values) {
        smdebug::detail::wire::append_varint(out, value);
    }
    return out;
}

}  // namespace messages
