// Varints: seven bits a byte, the lowest first, the top bit set where more bytes follow; and zigzag.
// The atom of the protobuf wire format; here so that everything above reads lengths and tags in one way.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

/// The most bytes that a varint has: 64 bits in groups of seven.
inline constexpr std::size_t max_varint_size = 10;

namespace detail {

/// Varints of two bytes and more.
[[nodiscard]] constexpr status take_long_varint(byte_view& rest, std::uint64_t& value) noexcept {
    const std::size_t limit = rest.size() < max_varint_size ? rest.size() : max_varint_size;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < limit; ++i) {
        const auto byte = static_cast<std::uint8_t>(rest[i]);
        if (i == max_varint_size - 1 && byte > 1) {
            return status::malformed;  // an eleventh byte, or bits above the 64th
        }
        bits |= (std::uint64_t{byte} & 0x7fU) << (7 * i);
        if (byte < 0x80) {
            value = bits;
            rest = rest.subspan(i + 1);
            return status::ok;
        }
    }
    return status::truncated;
}

/// Appends `bytes`, which do not lie in `out`.  Not inlined: where g++ 12 sees small constant sizes through
/// vector's code at -O3, it warns of overflows that cannot happen.
[[gnu::noinline]] inline void append_bytes(std::vector<std::byte>& out, byte_view bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace detail

/// Takes one varint from the front of `rest`.
/// Errors: truncated where the bytes end within it, malformed where it has more than 64 bits; `rest` and `value` are
/// then as they were.  A longer form than needed is accepted, as everywhere in protobuf.
[[nodiscard]] constexpr status take_varint(byte_view& rest, std::uint64_t& value) noexcept {
    if (!rest.empty() && static_cast<std::uint8_t>(rest.front()) < 0x80) {  // one byte: nearly every tag and length
        value = static_cast<std::uint8_t>(rest.front());
        rest = rest.subspan(1);
        return status::ok;
    }
    return detail::take_long_varint(rest, value);
}

/// Bytes of the shortest form of `value`: 1 to 10.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
    return (static_cast<std::size_t>(std::bit_width(value | 1U)) + 6) / 7;
}

/// A varint as its bytes.
struct varint_bytes {
    std::array<std::byte, max_varint_size> bytes{};
    std::size_t size = 0;
    [[nodiscard]] constexpr byte_view view() const noexcept { return byte_view{bytes.data(), size}; }
};

/// The shortest form of `value`.
[[nodiscard]] constexpr varint_bytes to_varint(std::uint64_t value) noexcept {
    varint_bytes result;
    while (value >= 0x80) {
        result.bytes[result.size++] = static_cast<std::byte>((value & 0x7fU) | 0x80U);
        value >>= 7;
    }
    result.bytes[result.size++] = static_cast<std::byte>(value);
    return result;
}

/// Appends the shortest form of `value` to `out`.
inline void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
    detail::append_bytes(out, to_varint(value).view());
}

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
