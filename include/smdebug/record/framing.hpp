// The layout of one TFRecord: length, checksum of the length, payload, footer.
// Lives apart from reader and writer, so that both use the same numbers.
//
//   0        8          12               12+n     16+n
//   | u64 n  | u32 mask | n payload bytes | u32    |        all little-endian
//   | length | of crc   |                 | footer |
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/record/crc32c.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace smdebug {
inline namespace v1 {
namespace record {

inline constexpr std::size_t length_size = 8;    ///< bytes of the length
inline constexpr std::size_t checksum_size = 4;  ///< bytes of either checksum
inline constexpr std::size_t header_size = length_size + checksum_size;
inline constexpr std::size_t footer_size = checksum_size;
inline constexpr std::size_t overhead = header_size + footer_size;  ///< bytes of a record beside its payload

namespace detail {

/// What stands before a payload.
struct header {
    std::uint64_t length = 0;           ///< bytes of payload; not to be believed before valid() and a comparison
    std::uint32_t length_checksum = 0;  ///< masked crc32c of the length's eight bytes

    /// Whether the checksum is that of the length.
    [[nodiscard]] constexpr bool valid() const noexcept { return length_checksum == checksum_of(length); }

    /// The masked crc32c of a length's eight little-endian bytes.
    [[nodiscard]] static constexpr std::uint32_t checksum_of(std::uint64_t length) noexcept {
        std::array<std::byte, length_size> bytes{};
        for (std::size_t i = 0; i < length_size; ++i) {
            bytes[i] = static_cast<std::byte>((length >> (8 * i)) & 0xffU);
        }
        return crc32c::mask(crc32c::value(byte_view{bytes}));
    }

    /// The header of a payload of `length` bytes.
    [[nodiscard]] static constexpr header of(std::uint64_t length) noexcept { return {length, checksum_of(length)}; }
};

}  // namespace detail

/// The header at `at`, unverified.  The caller has checked that header_size bytes are there.
[[nodiscard]] inline detail::header load_header(const std::byte* at) noexcept {
    return {load_le<std::uint64_t>(at), load_le<std::uint32_t>(at + length_size)};
}

/// Writes a header's header_size bytes to `at`.
inline void store_header(std::byte* at, const detail::header& value) noexcept {
    store_le(at, value.length);
    store_le(at + length_size, value.length_checksum);
}

/// Bytes of a record with `length` bytes of payload; empty where that overflows.
[[nodiscard]] constexpr std::optional<std::uint64_t> framed_size(std::uint64_t length) noexcept {
    if (length > std::numeric_limits<std::uint64_t>::max() - overhead) {
        return std::nullopt;
    }
    return length + overhead;
}

}  // namespace record
}  // namespace v1
}  // namespace smdebug
