// Bytes to make checksums of, and checksums by their definition.
#pragma once

#include "support/standard.hpp"

namespace smdebug_test {

inline std::vector<std::byte> random_bytes(std::size_t count, unsigned seed) {
    std::mt19937 random{seed};
    std::vector<std::byte> bytes(count);
    for (std::byte& byte : bytes) {
        byte = static_cast<std::byte>(random() & 0xffU);
    }
    return bytes;
}

/// A checksum of 32 bits, a bit at a time, as its polynomial says.
template <class Byte>
constexpr std::uint32_t crc_by_bits(std::uint32_t polynomial, std::uint32_t crc, const Byte* at, std::size_t count) {
    crc = ~crc;
    for (std::size_t i = 0; i < count; ++i) {
        crc ^= static_cast<std::uint8_t>(at[i]);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0U);
        }
    }
    return ~crc;
}

}  // namespace smdebug_test
