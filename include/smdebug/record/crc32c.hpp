// crc32c (Castagnoli), table driven, sixteen bytes a round, and TensorFlow's masking of it.
// Lives here because only the record framing carries checksums; usable at compile time.
// Used by: record (framing, reader, writer), crc_check.hpp.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace record::crc32c {
namespace detail {

inline constexpr std::size_t lanes = 16;
using table_set = std::array<std::array<std::uint32_t, 256>, lanes>;

/// Table k holds the checksum of a byte followed by k zero bytes, without the final inversion.
[[nodiscard]] constexpr table_set make_tables() noexcept {
    constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli's, bit-reversed
    table_set tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1) ^ ((crc & 1U) != 0 ? polynomial : 0U);
        }
        tables[0][byte] = crc;
    }
    for (std::size_t lane = 1; lane < lanes; ++lane) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[lane - 1][byte];
            tables[lane][byte] = (before >> 8) ^ tables[0][before & 0xffU];
        }
    }
    return tables;
}

inline constexpr table_set tables = make_tables();

/// Four bytes as a little-endian number.  Shifts rather than memcpy, so that it runs at compile time, too; compilers
/// turn them into one load.
template <class Byte>
[[nodiscard]] constexpr std::uint32_t load_word(const Byte* at) noexcept {
    const auto part = [at](std::size_t i) { return std::uint32_t{static_cast<std::uint8_t>(at[i])} << (8 * i); };
    return part(0) | part(1) | part(2) | part(3);
}

/// The contribution of the four bytes of `word` when `after` bytes of the round follow them.
template <std::size_t After>
[[nodiscard]] constexpr std::uint32_t fold(std::uint32_t word) noexcept {
    return tables[After + 3][word & 0xffU] ^ tables[After + 2][(word >> 8) & 0xffU] ^
           tables[After + 1][(word >> 16) & 0xffU] ^ tables[After][word >> 24];
}

template <class Byte>
[[nodiscard]] constexpr std::uint32_t extend(std::uint32_t crc, const Byte* at, std::size_t count) noexcept {
    crc = ~crc;
    for (; count >= lanes; at += lanes, count -= lanes) {
        crc = fold<12>(crc ^ load_word(at)) ^ fold<8>(load_word(at + 4)) ^ fold<4>(load_word(at + 8)) ^
              fold<0>(load_word(at + 12));
    }
    for (; count > 0; ++at, --count) {
        crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<std::uint8_t>(*at)) & 0xffU];
    }
    return ~crc;
}

}  // namespace detail

/// The checksum of what `crc` is the checksum of, followed by `bytes`.  The checksum of nothing is 0.
/// Cost: about 2 GB/s; no allocation.
[[nodiscard]] constexpr std::uint32_t extend(std::uint32_t crc, byte_view bytes) noexcept {
    return detail::extend(crc, bytes.data(), bytes.size());
}
[[nodiscard]] constexpr std::uint32_t extend(std::uint32_t crc, std::string_view text) noexcept {
    return detail::extend(crc, text.data(), text.size());
}

/// The crc32c of some bytes.
[[nodiscard]] constexpr std::uint32_t value(byte_view bytes) noexcept { return extend(0, bytes); }
[[nodiscard]] constexpr std::uint32_t value(std::string_view text) noexcept { return extend(0, text); }

/// TensorFlow's masking: files hold this, so that a checksum over bytes that contain checksums stays sound.
[[nodiscard]] constexpr std::uint32_t mask(std::uint32_t crc) noexcept {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

/// The checksum that `mask` made `masked` from.
[[nodiscard]] constexpr std::uint32_t unmask(std::uint32_t masked) noexcept {
    const std::uint32_t rotated = masked - 0xa282ead8U;
    return (rotated << 15) | (rotated >> 17);
}

}  // namespace record::crc32c
}  // namespace v1
}  // namespace smdebug
