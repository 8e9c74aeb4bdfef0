// crc32c on x86: by the crc32 instruction (SSE4.2), and below by AVX-512.
// Six streams at a time, joined by carry-less products (PCLMULQDQ).
// One stream waits three cycles for each instruction; CPUs start one or two a cycle, so three to six streams fill them.
//
// Compiler built-ins rather than <nmmintrin.h>: that header's functions change with the file's -m flags.  "no-..."
// excludes instructions of newer CPUs, whatever these flags are: the linker may pick any file's copy of a function.
#pragma once

#if defined(__x86_64__)

#include <smdebug/record/crc32c_table.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace smdebug::inline v1::record::crc32c::detail::sse42 {

using two_words = long long __attribute__((vector_size(16)));

inline constexpr std::size_t word = 8;  ///< bytes an instruction
inline constexpr std::size_t streams = 6;

/// The most words of one stream in a round: five other streams follow the first one.
inline constexpr std::size_t most_words = polynomial::most_shifted_words / (streams - 1);

/// Shorter rounds would cost more in joining than they win.
inline constexpr std::size_t fewest_words = 2;

[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::always_inline]] inline std::uint64_t load(
    const std::byte* at) noexcept {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

/// The carry-less product of two remainders.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::always_inline]] inline two_words multiply(
    std::uint64_t a, std::uint32_t b) noexcept {
    return __builtin_ia32_pclmulqdq128(two_words{static_cast<long long>(a), 0}, two_words{static_cast<long long>(b), 0},
                                       0);
}

/// The state (a checksum that is not inverted) after streams * words * 8 bytes.  Meanwhile prefetches as many from
/// `next`, because the CPU's own prefetching does not follow short streams.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2")]] inline std::uint64_t round(
    std::uint64_t state, const std::byte* at, std::size_t words, const std::byte* next) noexcept {
    const std::size_t distance = words * word;
    const std::byte* const end = at + distance;
    const std::byte* upper = at + 3 * distance;  // two bases need fewer registers than six addresses
    std::uint64_t s0 = state;
    std::uint64_t s1 = 0;
    std::uint64_t s2 = 0;
    std::uint64_t s3 = 0;
    std::uint64_t s4 = 0;
    std::uint64_t s5 = 0;
    for (; at != end; at += word, upper += word, next += streams * word) {
        s0 = __builtin_ia32_crc32di(s0, load(at));
        s1 = __builtin_ia32_crc32di(s1, load(at + distance));
        s2 = __builtin_ia32_crc32di(s2, load(at + 2 * distance));
        s3 = __builtin_ia32_crc32di(s3, load(upper));
        s4 = __builtin_ia32_crc32di(s4, load(upper + distance));
        s5 = __builtin_ia32_crc32di(s5, load(upper + 2 * distance));
        __builtin_prefetch(next);
    }
    constexpr const std::uint32_t* shift = &polynomial::shift_factors[0];
    const two_words joined = multiply(s0, shift[5 * words]) ^ multiply(s1, shift[4 * words]) ^
                             multiply(s2, shift[3 * words]) ^ multiply(s3, shift[2 * words]) ^
                             multiply(s4, shift[words]);
    return s5 ^ __builtin_ia32_crc32di(0, static_cast<std::uint64_t>(joined[0]));
}

/// Extends the checksum `crc` by `count` bytes.  Never inlined: the caller uses other registers and flags.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::noinline]] inline std::uint32_t extend(
    std::uint32_t crc, const std::byte* at, std::size_t count) noexcept {
    constexpr std::size_t most = streams * most_words * word;
    std::uint64_t state = ~crc;
    if (count == word) {  // the length of a record, checked for each
        return ~static_cast<std::uint32_t>(__builtin_ia32_crc32di(state, load(at)));
    }
    while (count >= streams * fewest_words * word) {
        const std::size_t fitting = count / (streams * word);
        const std::size_t words = fitting < most_words ? fitting : most_words;
        state = round(state, at, words, count >= 2 * most ? at + most : at);
        at += streams * words * word;
        count -= streams * words * word;
    }
    for (; count >= word; at += word, count -= word) {
        state = __builtin_ia32_crc32di(state, load(at));
    }
    auto rest = static_cast<std::uint32_t>(state);
    for (; count > 0; ++at, --count) {
        rest = __builtin_ia32_crc32qi(rest, static_cast<std::uint8_t>(*at));
    }
    return ~rest;
}

}  // namespace smdebug::inline v1::record::crc32c::detail::sse42

#endif

// crc32c by AVX-512 and VPCLMULQDQ: four vectors are folded over the ones that follow, until less than four are left.
// Made of built-ins; every CPU with VPCLMULQDQ for 512 bits has the other instructions that -m flags may enable.
//
// Feeding a part of each block to the crc32 instruction at the same time wins a tenth in the L1 cache, nothing beyond
// it, and loses half below 2 KiB (Zen 4); published figures of Intel's CPUs gain a fifth to a half that way, in caches.
// Memory gives less than either, so that is not worth a kernel for each kind of CPU.
#if defined(__x86_64__)

#include <array>

namespace smdebug::inline v1::record::crc32c::detail::avx512 {

using eight_words = long long __attribute__((vector_size(64)));

inline constexpr std::size_t vector = 64;                  ///< bytes
inline constexpr std::size_t vectors = 4;                  ///< as many as a product takes cycles
inline constexpr std::size_t shortest = vectors * vector;  ///< below, sse42 does it alone

/// Factors that shift the words of a vector's four quarters by these numbers of bits; 0 makes the product vanish.  A
/// quarter's earlier word stands 64 bits further up; a product brings an x, hence one bit less.
[[nodiscard]] constexpr std::array<std::uint64_t, 8> fold_factors(std::array<std::uint64_t, 4> bits) noexcept {
    std::array<std::uint64_t, 8> factors{};
    for (std::size_t i = 0; i < bits.size(); ++i) {
        if (bits[i] != 0) {
            factors[2 * i] = std::uint64_t{polynomial::power_of_bits(bits[i] + 63)} << 32;
            factors[2 * i + 1] = std::uint64_t{polynomial::power_of_bits(bits[i] - 1)} << 32;
        }
    }
    return factors;
}

template <std::size_t Vectors>
inline constexpr auto over_vectors = fold_factors({512 * Vectors, 512 * Vectors, 512 * Vectors, 512 * Vectors});

/// Shifts onto the last quarter, which stays in place.
inline constexpr auto over_quarters = fold_factors({384, 256, 128, 0});

[[nodiscard, gnu::target("sse4.2,pclmul,avx512f,vpclmulqdq"), gnu::always_inline]] inline eight_words load(
    const void* at) noexcept {
    eight_words value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

/// Each quarter's two words times their factors, summed.
[[nodiscard, gnu::target("sse4.2,pclmul,avx512f,vpclmulqdq"), gnu::always_inline]] inline eight_words folded(
    eight_words value, eight_words factors) noexcept {
#if defined(__clang__)
    return __builtin_ia32_pclmulqdq512(value, factors, 0x00) ^ __builtin_ia32_pclmulqdq512(value, factors, 0x11);
#else
    return __builtin_ia32_vpclmulqdq_v8di(value, factors, 0x00) ^ __builtin_ia32_vpclmulqdq_v8di(value, factors, 0x11);
#endif
}

/// The state after the bytes of a vector if the state before was 0.
[[nodiscard, gnu::target("sse4.2,pclmul,avx512f,vpclmulqdq"), gnu::always_inline]] inline std::uint64_t state_of(
    eight_words value) noexcept {
    const eight_words moved = folded(value, load(&over_quarters));
    const long long earlier = moved[0] ^ moved[2] ^ moved[4] ^ value[6];
    const long long later = moved[1] ^ moved[3] ^ moved[5] ^ value[7];
    return __builtin_ia32_crc32di(__builtin_ia32_crc32di(0, static_cast<std::uint64_t>(earlier)),
                                  static_cast<std::uint64_t>(later));
}

/// Extends the checksum `crc` by `count` bytes, at least `shortest`.  Four variables rather than an array, so that they
/// are registers where loops are not unrolled (-O2), too.
[[nodiscard, gnu::target("sse4.2,pclmul,avx512f,vpclmulqdq"), gnu::noinline]] inline std::uint32_t extend(
    std::uint32_t crc, const std::byte* at, std::size_t count) noexcept {
    const eight_words factors = load(&over_vectors<vectors>);
    eight_words v0 = load(at) ^ eight_words { static_cast<long long>(std::uint32_t{~crc}), 0, 0, 0, 0, 0, 0, 0 };
    eight_words v1 = load(at + vector);
    eight_words v2 = load(at + 2 * vector);
    eight_words v3 = load(at + 3 * vector);
    for (at += shortest, count -= shortest; count >= shortest; at += shortest, count -= shortest) {
        v0 = folded(v0, factors) ^ load(at);
        v1 = folded(v1, factors) ^ load(at + vector);
        v2 = folded(v2, factors) ^ load(at + 2 * vector);
        v3 = folded(v3, factors) ^ load(at + 3 * vector);
    }
    const eight_words over_one = load(&over_vectors<1>);
    v1 ^= folded(v0, over_one);
    v2 ^= folded(v1, over_one);
    v3 ^= folded(v2, over_one);
    return sse42::extend(~static_cast<std::uint32_t>(state_of(v3)), at, count);
}

}  // namespace smdebug::inline v1::record::crc32c::detail::avx512

#endif
