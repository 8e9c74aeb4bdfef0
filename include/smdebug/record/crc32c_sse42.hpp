// crc32c by the CPU's crc32 instruction (SSE4.2), six streams at a time, joined by carry-less products (PCLMULQDQ).
// One stream waits three cycles for each instruction; CPUs start one or two a cycle, so three to six streams fill them.
//
// Compiler built-ins rather than <nmmintrin.h>: that header's functions change with the file's -m flags.  "no-..."
// keeps instructions of newer CPUs out, whatever these flags are: the linker may pick any file's copy of a function.
#pragma once

#if defined(__x86_64__)

#include <smdebug/record/crc32c_polynomial.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace record::crc32c::detail {
namespace sse42 {

using two_words = long long __attribute__((vector_size(16)));

inline constexpr std::size_t word = 8;  ///< bytes that one instruction takes
inline constexpr std::size_t streams = 6;

/// Words of one stream in one round at most: five other streams follow the first one.
inline constexpr std::size_t most_words = polynomial::most_shifted_words / (streams - 1);

/// Rounds of fewer words would cost more in joining than they win.
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

/// The state (a checksum that is not inverted) after streams * words * 8 bytes.  Meanwhile fetches as many from `next`,
/// because the CPU's own prefetching does not follow short streams.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2")]] inline std::uint64_t round(
    std::uint64_t state, const std::byte* at, std::size_t words, const std::byte* next) noexcept {
    const std::size_t distance = words * word;
    const std::byte* const end = at + distance;
    const std::byte* upper = at + 3 * distance;  // two bases need fewer registers than six places
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

/// The checksum of what `crc` is the checksum of, followed by `count` bytes.  Never a part of its caller, where
/// registers and flags are others.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::noinline]] inline std::uint32_t extend(
    std::uint32_t crc, const std::byte* at, std::size_t count) noexcept {
    constexpr std::size_t most = streams * most_words * word;
    std::uint64_t state = ~crc;
    if (count == word) {  // the length of a record: each has one
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

}  // namespace sse42
}  // namespace record::crc32c::detail
}  // namespace v1
}  // namespace smdebug

#endif
