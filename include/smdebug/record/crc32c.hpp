// crc32c (Castagnoli) of bytes, of parts that are joined afterwards, and TensorFlow's masking of it.
// Lives here because only the record framing carries checksums; usable at compile time.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/record/crc32c_choice.hpp>
#include <smdebug/record/crc32c_polynomial.hpp>
#include <smdebug/record/crc32c_table.hpp>

#include <cstdint>
#include <string_view>
#include <type_traits>

namespace smdebug {
inline namespace v1 {
namespace record::crc32c {

/// The checksum of what `crc` is the checksum of, followed by `bytes`.  The checksum of nothing is 0.
/// Cost: 60 to 100 GB/s on CPUs of 2024, 2 GB/s where no instruction helps (crc32c_choice.hpp); no allocation.
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

/// The crc32c of some bytes.
[[nodiscard]] constexpr std::uint32_t value(byte_view bytes) noexcept { return extend(0, bytes); }
[[nodiscard]] constexpr std::uint32_t value(std::string_view text) noexcept { return extend(0, text); }

/// The checksum of two parts, one behind the other, from the checksums of both and the length of the second in bytes:
/// parts can be checked apart, in any order and on several threads.  Cost: O(log length), at most 2 us.
[[nodiscard]] constexpr std::uint32_t combine(std::uint32_t crc_a, std::uint32_t crc_b,
                                              std::uint64_t length_b) noexcept {
    return detail::polynomial::product(crc_a, detail::polynomial::power_of_bytes(length_b)) ^ crc_b;
}

/// TensorFlow's masking: files hold this, so that a checksum over bytes that contain checksums stays sound.
[[nodiscard]] constexpr std::uint32_t mask(std::uint32_t crc) noexcept {
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

/// The checksum that `mask` made `masked` from.
[[nodiscard]] constexpr std::uint32_t unmask(std::uint32_t masked) noexcept {
    const std::uint32_t rotated = masked - 0xa282ead8U;
    return (rotated << 15) | (rotated >> 17);
}

}  // namespace record::crc32c
}  // namespace v1
}  // namespace smdebug
