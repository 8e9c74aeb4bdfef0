// The checksum that zip has of its members: CRC-32, by carry-less products where the CPU has them, else by tables.
// Not zlib's: that belongs to the component `archive`, and an .npz is written without it.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/record/crc32c_table.hpp>

#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace detail::crc32 {

inline constexpr std::uint32_t polynomial = 0xedb88320;  ///< of zip, gzip, PNG; bit 31 is the coefficient of x^0
inline constexpr std::uint32_t one = 0x80000000;

/// a * b modulo the polynomial.
[[nodiscard]] constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) noexcept {
    std::uint32_t sum = 0;
    for (; b != 0; b <<= 1U) {
        sum ^= (b & one) != 0 ? a : 0U;
        a = (a >> 1U) ^ ((a & 1U) != 0 ? polynomial : 0U);
    }
    return sum;
}

/// x^exponent modulo the polynomial.
[[nodiscard]] constexpr std::uint32_t power_of_x(std::uint64_t exponent) noexcept {
    std::uint32_t power = one;
    for (std::uint32_t square = one >> 1U; exponent != 0; exponent >>= 1U, square = product(square, square)) {
        power = (exponent & 1U) != 0 ? product(power, square) : power;
    }
    return power;
}

/// The checksum of what `crc` is the checksum of, followed by `bytes`; 0 is that of nothing.
[[nodiscard]] std::uint32_t extend(std::uint32_t crc, byte_view bytes) noexcept;

/// The same by tables, on any CPU.
[[nodiscard]] std::uint32_t extend_by_tables(std::uint32_t crc, byte_view bytes) noexcept;

/// The checksum of two parts, one behind the other, from those of both and the length of the second in bytes, which is
/// below 2^61.
[[nodiscard]] constexpr std::uint32_t combine(std::uint32_t first, std::uint32_t second,
                                              std::uint64_t length_of_second) noexcept {
    return product(first, power_of_x(8 * length_of_second)) ^ second;
}

}  // namespace detail::crc32
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/exporting/write/impl/crc32.ipp>
#endif
