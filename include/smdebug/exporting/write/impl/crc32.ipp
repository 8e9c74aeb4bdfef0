// The bodies of <smdebug/exporting/write/crc32.hpp>.
#pragma once

#include <smdebug/exporting/write/crc32.hpp>

#include <cstring>

namespace smdebug {
inline namespace v1 {
namespace detail::crc32 {

namespace table = record::crc32c::detail::table;

inline constexpr table::table_set tables = table::make_tables(polynomial);

// The state, a checksum that is not inverted, after more bytes.
[[nodiscard]] inline std::uint32_t pass(std::uint32_t state, const std::byte* at, std::size_t count) noexcept {
    const auto fold = [](std::uint32_t word, std::size_t after) {
        return tables[after + 3][word & 0xffU] ^ tables[after + 2][(word >> 8U) & 0xffU] ^
               tables[after + 1][(word >> 16U) & 0xffU] ^ tables[after][word >> 24U];
    };
    for (; count >= table::lanes; at += table::lanes, count -= table::lanes) {
        state = fold(state ^ table::load_word(at), 12) ^ fold(table::load_word(at + 4), 8) ^
                fold(table::load_word(at + 8), 4) ^ fold(table::load_word(at + 12), 0);
    }
    for (; count > 0; ++at, --count) {
        state = (state >> 8U) ^ tables[0][(state ^ static_cast<std::uint8_t>(*at)) & 0xffU];
    }
    return state;
}

SMDEBUG_INLINE std::uint32_t extend_by_tables(std::uint32_t crc, byte_view bytes) noexcept {
    return ~pass(~crc, bytes.data(), bytes.size());
}

#if defined(__x86_64__)
using two_words = long long __attribute__((vector_size(16)));

// What 16 bytes are multiplied by to stand `bits` further in front: their first eight, and the other eight.  A product
// of two reflected numbers comes out one bit low, hence the shift.
[[nodiscard]] constexpr two_words factors_over(std::uint64_t bits) noexcept {
    return two_words{static_cast<long long>(std::uint64_t{power_of_x(bits + 32)} << 1U),
                     static_cast<long long>(std::uint64_t{power_of_x(bits - 32)} << 1U)};
}

// Compiler built-ins and "no-...": as in record/crc32c_sse42.hpp.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::always_inline]] inline two_words load(
    const std::byte* at) noexcept {
    two_words value;
    std::memcpy(&value, at, sizeof(value));
    return value;
}

[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::always_inline]] inline two_words folded(
    two_words value, two_words factors, two_words next) noexcept {
    return __builtin_ia32_pclmulqdq128(value, factors, 0x00) ^ __builtin_ia32_pclmulqdq128(value, factors, 0x11) ^ next;
}

// 64 bytes or more.  The remainder of 16 bytes that stand for all is left to the tables.
[[nodiscard, gnu::target("sse4.2,pclmul,no-avx,no-bmi,no-bmi2"), gnu::noinline]] inline std::uint32_t pass_by_products(
    std::uint32_t state, const std::byte* at, std::size_t count) noexcept {
    constexpr std::size_t lane = 16;
    const two_words over_four = factors_over(512);
    const two_words over_one = factors_over(128);
    two_words first = load(at) ^ two_words { static_cast<long long>(state), 0 };
    two_words second = load(at + lane);
    two_words third = load(at + 2 * lane);
    two_words fourth = load(at + 3 * lane);
    at += 4 * lane;
    count -= 4 * lane;
    for (; count >= 4 * lane; at += 4 * lane, count -= 4 * lane) {
        first = folded(first, over_four, load(at));
        second = folded(second, over_four, load(at + lane));
        third = folded(third, over_four, load(at + 2 * lane));
        fourth = folded(fourth, over_four, load(at + 3 * lane));
    }
    two_words all = folded(folded(folded(first, over_one, second), over_one, third), over_one, fourth);
    for (; count >= lane; at += lane, count -= lane) {
        all = folded(all, over_one, load(at));
    }
    std::byte rest[lane];
    std::memcpy(rest, &all, lane);
    return pass(pass(0, rest, lane), at, count);
}
#endif

SMDEBUG_INLINE std::uint32_t extend(std::uint32_t crc, byte_view bytes) noexcept {
#if defined(__x86_64__)
    if (bytes.size() >= 64 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.2")) {
        return ~pass_by_products(~crc, bytes.data(), bytes.size());
    }
#endif
    return extend_by_tables(crc, bytes);
}

}  // namespace detail::crc32
}  // namespace v1
}  // namespace smdebug
