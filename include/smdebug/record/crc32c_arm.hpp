// crc32c by ARM's crc32c instructions, three streams at a time, joined by carry-less products (PMULL).
// Its scheme is that of crc32c_x86.hpp; not shared, as a target belongs to a function.
// That target is "crypto", although "aes" includes PMULL: g++ 12 offers vmull_p64 only for "crypto".  The other half of
// crypto, SHA2, comes only from intrinsics, so supported() need not check it.
#pragma once

#if defined(__aarch64__)

#include <smdebug/record/crc32c_table.hpp>

#include <arm_acle.h>
#include <arm_neon.h>
#include <sys/auxv.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace smdebug::inline v1::record::crc32c::detail::arm {

inline constexpr std::size_t word = 8;  ///< bytes an instruction
inline constexpr std::size_t streams = 3;
inline constexpr std::size_t most_words = polynomial::most_shifted_words / (streams - 1);
inline constexpr std::size_t fewest_words = 4;  ///< shorter rounds would cost more in joining than they win

/// Whether the CPU has the instructions; glibc has queried the kernel at program start.
[[nodiscard]] inline bool supported() noexcept {
    constexpr unsigned long needed = HWCAP_CRC32 | HWCAP_PMULL;
    return (::getauxval(AT_HWCAP) & needed) == needed;
}

[[nodiscard, gnu::target("+crc+crypto"), gnu::always_inline]] inline std::uint64_t load(const std::byte* at) noexcept {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

/// The carry-less product of two remainders; it has 63 bits.
[[nodiscard, gnu::target("+crc+crypto"), gnu::always_inline]] inline std::uint64_t multiply(std::uint32_t a,
                                                                                            std::uint32_t b) noexcept {
    return static_cast<std::uint64_t>(vmull_p64(static_cast<poly64_t>(a), static_cast<poly64_t>(b)));
}

/// The state (a checksum that is not inverted) after streams * words * 8 bytes.
[[nodiscard, gnu::target("+crc+crypto")]] inline std::uint32_t round(std::uint32_t state, const std::byte* at,
                                                                     std::size_t words) noexcept {
    const std::size_t distance = words * word;
    const std::byte* const end = at + distance;
    std::uint32_t s0 = state;
    std::uint32_t s1 = 0;
    std::uint32_t s2 = 0;
    for (; at != end; at += word) {
        s0 = __crc32cd(s0, load(at));
        s1 = __crc32cd(s1, load(at + distance));
        s2 = __crc32cd(s2, load(at + 2 * distance));
    }
    constexpr const std::uint32_t* shift = &polynomial::shift_factors[0];
    return s2 ^ __crc32cd(0, multiply(s0, shift[2 * words]) ^ multiply(s1, shift[words]));
}

/// Extends the checksum `crc` by `count` bytes.
[[nodiscard, gnu::target("+crc+crypto"), gnu::noinline]] inline std::uint32_t extend(std::uint32_t crc,
                                                                                     const std::byte* at,
                                                                                     std::size_t count) noexcept {
    std::uint32_t state = ~crc;
    while (count >= streams * fewest_words * word) {
        const std::size_t fitting = count / (streams * word);
        const std::size_t words = fitting < most_words ? fitting : most_words;
        state = round(state, at, words);
        at += streams * words * word;
        count -= streams * words * word;
    }
    for (; count >= word; at += word, count -= word) {
        state = __crc32cd(state, load(at));
    }
    for (; count > 0; ++at, --count) {
        state = __crc32cb(state, static_cast<std::uint8_t>(*at));
    }
    return ~state;
}

}  // namespace smdebug::inline v1::record::crc32c::detail::arm

#endif
