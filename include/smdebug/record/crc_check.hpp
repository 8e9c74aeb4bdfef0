// Which checksums of a record are verified and written, and the constant that the Python package writes in place of one.
// Lives here because both the reader and the decoders that users compose take the policy.
#pragma once

#include <cstdint>
#include <string_view>

namespace smdebug {
inline namespace v1 {

/// How much of a record is verified before it is believed.
enum class crc_check : std::uint8_t {
    full,         ///< the length, and the payload unless its footer is the package's constant
    length_only,  ///< the length: a damaged file cannot lead the reader astray, a damaged value passes
    none,         ///< nothing: only the bytes that are there bound what is read
};

/// "full", "length_only" or "none".
[[nodiscard]] constexpr std::string_view name_of(crc_check check) noexcept {
    switch (check) {
        case crc_check::full:
            return "full";
        case crc_check::length_only:
            return "length_only";
        case crc_check::none:
            return "none";
    }
    return "?";
}

namespace record {

/// What the Python package checksums in place of every payload: this text, not a number.
inline constexpr std::string_view package_footer_text = "0x12345678";

/// The footer that the package therefore writes after every payload, that text's masked crc32c; in a file: b3 c0 2d 06.
/// A payload under it cannot be verified: a flipped byte stays unseen.
inline constexpr std::uint32_t package_footer = 0x062dc0b3;

/// What is written behind a payload.
enum class footer_kind : std::uint8_t {
    package_constant,  ///< what the Python package writes; it refuses anything else when it reads
    checksum,          ///< the masked crc32c of the payload: TensorFlow's format, and verifiable
};

}  // namespace record
}  // namespace v1
}  // namespace smdebug
