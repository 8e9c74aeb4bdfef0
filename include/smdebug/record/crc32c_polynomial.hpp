// Arithmetic with remainders modulo crc32c's polynomial: products, powers of x, and the constants made of them.
// Every constant of the fast implementations is computed here at compile time; none is written down as digits.
//
// A checksum is a remainder whose bit 31 is the coefficient of x^0.  Appending a zero bit multiplies it by x.
#pragma once

#include <smdebug/record/crc32c_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace record::crc32c::detail {
namespace polynomial {

inline constexpr std::uint32_t one = 0x80000000;

/// a * x.
[[nodiscard]] constexpr std::uint32_t times_x(std::uint32_t a) noexcept {
    return (a >> 1) ^ ((a & 1U) != 0 ? table::polynomial : 0U);
}

/// a * b.
[[nodiscard]] constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) noexcept {
    std::uint32_t sum = 0;
    for (; b != 0; b <<= 1) {
        sum ^= (b & one) != 0 ? a : 0U;
        a = times_x(a);
    }
    return sum;
}

/// Element k is x to the power of 8 * 2^k: what appending 2^k zero bytes multiplies a checksum by.
[[nodiscard]] constexpr std::array<std::uint32_t, 64> make_byte_powers() noexcept {
    std::array<std::uint32_t, 64> powers{};
    powers[0] = one >> 8;
    for (std::size_t k = 1; k < powers.size(); ++k) {
        powers[k] = product(powers[k - 1], powers[k - 1]);
    }
    return powers;
}

inline constexpr std::array<std::uint32_t, 64> byte_powers = make_byte_powers();

/// What appending `count` zero bytes multiplies by: x^(8 * count).
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

/// shift_factor of 1 to most_shifted_words; element 0 is of no use.
[[nodiscard]] constexpr std::array<std::uint32_t, most_shifted_words + 1> make_shift_factors() noexcept {
    std::array<std::uint32_t, most_shifted_words + 1> factors{};
    factors[1] = shift_factor(1);
    for (std::size_t words = 2; words < factors.size(); ++words) {
        factors[words] = table::fold<4>(factors[words - 1]);  // eight zero bytes more
    }
    return factors;
}

inline constexpr std::array<std::uint32_t, most_shifted_words + 1> shift_factors = make_shift_factors();

}  // namespace polynomial
}  // namespace record::crc32c::detail
}  // namespace v1
}  // namespace smdebug
