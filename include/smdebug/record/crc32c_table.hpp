// crc32c by tables, sixteen bytes a round: what every CPU can do, and what runs at compile time.
// The other implementations are tested against this one; it knows nothing of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace record::crc32c::detail {
namespace table {

inline constexpr std::uint32_t polynomial = 0x82f63b78;  ///< Castagnoli's; bit 31 is the coefficient of x^0
inline constexpr std::size_t lanes = 16;

// Built-in arrays: every file that includes this computes the tables, and compilers take long over calls.
struct table_set {
    using table = std::uint32_t[256];

    [[nodiscard]] constexpr const table& operator[](std::size_t lane) const noexcept { return of[lane]; }

    table of[lanes];
};

/// Table k holds the checksum of a byte followed by k zero bytes, without the final inversion.
[[nodiscard]] constexpr table_set make_tables(std::uint32_t modulus) noexcept {
    table_set tables{};
    std::uint32_t crc = 1;  // of a byte of which only the highest bit is set, then of one bit less
    for (std::size_t bit = 128; bit != 0; bit /= 2) {
        crc = (crc >> 1) ^ ((crc & 1U) != 0 ? modulus : 0U);
        tables.of[0][bit] = crc;
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        table_set::table& table = tables.of[lane];
        for (std::size_t bit = 1; bit < 256; bit *= 2) {
            if (lane > 0) {
                const std::uint32_t before = tables.of[lane - 1][bit];
                table[bit] = (before >> 8) ^ tables.of[0][before & 0xffU];
            }
            for (std::size_t below = 1; below < bit; ++below) {
                table[bit + below] = table[bit] ^ table[below];  // checksums are linear
            }
        }
    }
    return tables;
}

inline constexpr table_set tables = make_tables(polynomial);

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

/// The checksum of what `crc` is the checksum of, followed by `count` bytes, which are std::byte or char.
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

}  // namespace table
}  // namespace record::crc32c::detail
}  // namespace v1
}  // namespace smdebug
