// The implementations of crc32c, which of them this CPU can run, and which one a buffer is given to.
// The choice is made at run time, so that a program built for the baseline is as fast as one built for the CPU.
#pragma once

#include <smdebug/record/crc32c_arm.hpp>
#include <smdebug/record/crc32c_avx512.hpp>
#include <smdebug/record/crc32c_sse42.hpp>
#include <smdebug/record/crc32c_table.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace record::crc32c::detail {

/// All give the same checksums.
enum class implementation : std::uint8_t {
    table,            ///< any CPU
    sse42,            ///< x86-64 with SSE4.2 and PCLMULQDQ
    avx512_folding,   ///< x86-64 with AVX-512 and VPCLMULQDQ, mostly vectors
    avx512_balanced,  ///< the same, about half of the bytes by the crc32 instruction
    arm               ///< ARMv8 with CRC32 and PMULL
};

inline constexpr std::array implementations{implementation::table, implementation::sse42,
                                            implementation::avx512_folding, implementation::avx512_balanced,
                                            implementation::arm};

[[nodiscard]] constexpr std::string_view name_of(implementation which) noexcept {
    constexpr std::array<std::string_view, implementations.size()> names{"table", "sse42", "avx512_folding",
                                                                         "avx512_balanced", "arm"};
    return names[static_cast<std::size_t>(which)];
}

/// Whether this CPU (and its operating system) can run it.  Cost: some bits that were read at the program's start.
[[nodiscard]] inline bool supported(implementation which) noexcept {
    switch (which) {
        case implementation::table:
            return true;
#if defined(__x86_64__)
        case implementation::sse42:
            return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
        case implementation::avx512_folding:
        case implementation::avx512_balanced:
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
    constexpr std::size_t long_enough = 2048;
    if (count >= long_enough && supported(implementation::avx512_folding)) {
        return __builtin_cpu_is("amd") ? implementation::avx512_balanced : implementation::avx512_folding;
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

/// The checksum of what `crc` is the checksum of, followed by `count` bytes.  The CPU must support `which`.
[[nodiscard]] inline std::uint32_t extend_by(implementation which, std::uint32_t crc, const std::byte* at,
                                             std::size_t count) noexcept {
    switch (which) {
#if defined(__x86_64__)
        case implementation::sse42:
            return sse42::extend(crc, at, count);
        case implementation::avx512_folding:
            return avx512::folding::extend(crc, at, count);
        case implementation::avx512_balanced:
            return avx512::balanced::extend(crc, at, count);
#elif defined(__aarch64__)
        case implementation::arm:
            return arm::extend(crc, at, count);
#endif
        default:
            return table::extend(crc, at, count);
    }
}

}  // namespace record::crc32c::detail
}  // namespace v1
}  // namespace smdebug
