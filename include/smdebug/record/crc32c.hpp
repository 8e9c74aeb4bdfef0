// crc32c (Castagnoli) of bytes, of parts joined afterwards, and TensorFlow's masking.
// Lives here because only the record framing has checksums; usable at compile time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/record/crc32c_arm.hpp>
#include <smdebug/record/crc32c_table.hpp>
#include <smdebug/record/crc32c_x86.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

// The implementations of crc32c, which of them this CPU can run, and which one to use for a buffer.
// Chosen at run time, so that a program built for the baseline is as fast as one built for the CPU.
namespace smdebug::inline v1 {
namespace record::crc32c::detail {

/// All give the same checksums.
enum class implementation : std::uint8_t {
    table,   ///< any CPU
    sse42,   ///< x86-64 with SSE4.2 and PCLMULQDQ
    avx512,  ///< x86-64 with AVX-512 and VPCLMULQDQ
    arm      ///< ARMv8 with CRC32 and PMULL
};

inline constexpr std::array implementations{implementation::table, implementation::sse42, implementation::avx512,
                                            implementation::arm};

[[nodiscard]] constexpr std::string_view name_of(implementation which) noexcept {
    constexpr std::array<std::string_view, implementations.size()> names{"table", "sse42", "avx512", "arm"};
    return names[static_cast<std::size_t>(which)];
}

/// Whether this CPU (and its operating system) can run it.  Cost: a few bits read at program start.
[[nodiscard]] inline bool supported(implementation which) noexcept {
    switch (which) {
        case implementation::table:
            return true;
#if defined(__x86_64__)
        case implementation::sse42:
            return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
        case implementation::avx512:
            return __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && supported(implementation::sse42);
#elif defined(__aarch64__)
        case implementation::arm:
            return arm::supported();
#endif
        default:
            return false;
    }
}

/// The fastest implementation that this CPU supports for `count` bytes.
[[nodiscard]] inline implementation fastest(std::size_t count) noexcept {
#if defined(__x86_64__)
    if (count >= avx512::shortest && supported(implementation::avx512)) {
        return implementation::avx512;
    }
    if (supported(implementation::sse42)) {
        return implementation::sse42;
    }
#elif defined(__aarch64__)
    if (count >= arm::word && supported(implementation::arm)) {
        return implementation::arm;
    }
#endif
    return implementation::table;
}

/// Extends the checksum `crc` by `count` bytes.  The CPU must support `which`.
[[nodiscard]] inline std::uint32_t extend_by(implementation which, std::uint32_t crc, const std::byte* at,
                                             std::size_t count) noexcept {
    switch (which) {
#if defined(__x86_64__)
        case implementation::sse42:
            return sse42::extend(crc, at, count);
        case implementation::avx512:
            return count < avx512::shortest ? sse42::extend(crc, at, count) : avx512::extend(crc, at, count);
#elif defined(__aarch64__)
        case implementation::arm:
            return arm::extend(crc, at, count);
#endif
        default:
            return table::extend(crc, at, count);
    }
}

}  // namespace record::crc32c::detail

namespace record::crc32c {

/// Extends the checksum `crc` by `bytes`.  The checksum of no bytes is 0.
/// Cost: 60 to 100 GB/s on CPUs of 2024, 2 GB/s where no instruction helps; no allocation.
[[nodiscard]] constexpr std::uint32_t extend(std::uint32_t crc, byte_view bytes) noexcept {
    if (std::is_constant_evaluated()) {
        return detail::table::extend(crc, bytes.data(), bytes.size());
    }
    return detail::extend_by(detail::fastest(bytes.size()), crc, bytes.data(), bytes.size());
}
[[nodiscard]] constexpr std::uint32_t extend(std::uint32_t crc, std::string_view text) noexcept {
    if (std::is_constant_evaluated()) {
        return detail::table::extend(crc, text.data(), text.size());
    }
    return extend(crc, as_bytes(text));
}

/// The crc32c of `bytes`.
[[nodiscard]] constexpr std::uint32_t value(byte_view bytes) noexcept { return extend(0, bytes); }
[[nodiscard]] constexpr std::uint32_t value(std::string_view text) noexcept { return extend(0, text); }

/// The checksum of two consecutive parts, from their checksums and the length of the second in bytes: parts can be
/// checked separately, in any order and on several threads.  Cost: O(log length), at most 2 us.
[[nodiscard]] constexpr std::uint32_t combine(std::uint32_t crc_a, std::uint32_t crc_b,
                                              std::uint64_t length_b) noexcept {
    return detail::polynomial::product(crc_a, detail::polynomial::power_of_bytes(length_b)) ^ crc_b;
}

/// TensorFlow's masking: files hold the masked value, so that a checksum over bytes that contain checksums stays sound.
[[nodiscard]] constexpr std::uint32_t mask(std::uint32_t crc) noexcept {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

/// Undoes `mask`.
[[nodiscard]] constexpr std::uint32_t unmask(std::uint32_t masked) noexcept {
    const std::uint32_t rotated = masked - 0xa282ead8U;
    return (rotated << 15) | (rotated >> 17);
}

}  // namespace record::crc32c
}  // namespace smdebug::inline v1
