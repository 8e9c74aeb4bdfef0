// crc32c by tables, sixteen bytes a round: runs on every CPU, and at compile time.
// The other implementations are tested against this one, which is independent of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace smdebug::inline v1::record::crc32c::detail {
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
    std::uint32_t crc = 1;  // checksum of the byte 0x80, then of 0x40, 0x20, ...
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

/// What the four bytes of `word` contribute when `After` bytes of the round follow them.
template <std::size_t After>
[[nodiscard]] constexpr std::uint32_t fold(const table_set& in, std::uint32_t word) noexcept {
    return in[After + 3][word & 0xffU] ^ in[After + 2][(word >> 8) & 0xffU] ^ in[After + 1][(word >> 16) & 0xffU] ^
           in[After][word >> 24];
}

/// The state, a checksum that is not inverted, after `count` bytes, which are std::byte or char.
template <class Byte>
[[nodiscard]] constexpr std::uint32_t pass(const table_set& in, std::uint32_t state, const Byte* at,
                                           std::size_t count) noexcept {
    for (; count >= lanes; at += lanes, count -= lanes) {
        state = fold<12>(in, state ^ load_word(at)) ^ fold<8>(in, load_word(at + 4)) ^ fold<4>(in, load_word(at + 8)) ^
                fold<0>(in, load_word(at + 12));
    }
    for (; count > 0; ++at, --count) {
        state = (state >> 8) ^ in[0][(state ^ static_cast<std::uint8_t>(*at)) & 0xffU];
    }
    return state;
}

/// Extends the checksum `crc` by `count` bytes.
template <class Byte>
[[nodiscard]] constexpr std::uint32_t extend(std::uint32_t crc, const Byte* at, std::size_t count) noexcept {
    return ~pass(tables, ~crc, at, count);
}

}  // namespace table

// Arithmetic with remainders modulo crc32c's polynomial, or another `modulus`: products, powers of x, and constants from
// them.  Every constant of the fast implementations is computed here at compile time; none is written out as digits.
//
// A checksum is a remainder whose bit 31 is the coefficient of x^0.  Appending a zero bit multiplies it by x.
namespace polynomial {

inline constexpr std::uint32_t one = 0x80000000;

/// a * x.
[[nodiscard]] constexpr std::uint32_t times_x(std::uint32_t a, std::uint32_t modulus = table::polynomial) noexcept {
    return (a >> 1) ^ ((a & 1U) != 0 ? modulus : 0U);
}

/// a * b.
[[nodiscard]] constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b,
                                              std::uint32_t modulus = table::polynomial) noexcept {
    std::uint32_t sum = 0;
    for (; b != 0; b <<= 1) {
        sum ^= (b & one) != 0 ? a : 0U;
        a = times_x(a, modulus);
    }
    return sum;
}

/// Element k is x to the power of 8 * 2^k: the factor of appending 2^k zero bytes to a checksum.
[[nodiscard]] constexpr std::array<std::uint32_t, 64> make_byte_powers() noexcept {
    std::array<std::uint32_t, 64> powers{};
    powers[0] = one >> 8;
    for (std::size_t k = 1; k < powers.size(); ++k) {
        powers[k] = product(powers[k - 1], powers[k - 1]);
    }
    return powers;
}

inline constexpr std::array<std::uint32_t, 64> byte_powers = make_byte_powers();

/// The factor of appending `count` zero bytes: x^(8 * count).
[[nodiscard]] constexpr std::uint32_t power_of_bytes(std::uint64_t count) noexcept {
    std::uint32_t power = one;
    for (std::size_t k = 0; count != 0; ++k, count >>= 1) {
        if ((count & 1U) != 0) {
            power = product(power, byte_powers[k]);
        }
    }
    return power;
}

/// x^bits for any number of bits, for constants.
[[nodiscard]] constexpr std::uint32_t power_of_bits(std::uint64_t bits) noexcept {
    std::uint32_t power = power_of_bytes(bits / 8);
    for (std::uint64_t i = 0; i < bits % 8; ++i) {
        power = times_x(power);
    }
    return power;
}

/// The factor that a carry-less product with `crc` needs, so that the CPU's crc of the 64-bit product is `crc`
/// followed by `words` zero words (of 8 bytes; at least one): the product brings an x, the CPU's crc x^32.
[[nodiscard]] constexpr std::uint32_t shift_factor(std::uint64_t words) noexcept {
    return power_of_bits(64 * words - 33);
}

inline constexpr std::size_t most_shifted_words = 1023;

/// shift_factor of 1 to most_shifted_words; element 0 is unused.
[[nodiscard]] constexpr std::array<std::uint32_t, most_shifted_words + 1> make_shift_factors() noexcept {
    std::array<std::uint32_t, most_shifted_words + 1> factors{};
    factors[1] = shift_factor(1);
    for (std::size_t words = 2; words < factors.size(); ++words) {
        factors[words] = table::fold<4>(table::tables, factors[words - 1]);  // eight zero bytes more
    }
    return factors;
}

inline constexpr std::array<std::uint32_t, most_shifted_words + 1> shift_factors = make_shift_factors();

}  // namespace polynomial
}  // namespace smdebug::inline v1::record::crc32c::detail
