// A payload's checksum, computed piece by piece while the caller works through the payload.
// Checking first and working then loads a large payload from memory twice.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace smdebug::inline v1 {

/// How much of a record is verified before it is used.
enum class crc_check : std::uint8_t {
    full,         ///< the length, and the payload unless its footer is the package's constant
    length_only,  ///< the length: damage cannot misplace records, a damaged value passes
    none,         ///< checks nothing; reads are bounded only by the available bytes
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

/// The text whose checksum the Python package writes for every payload.
inline constexpr std::string_view package_footer_text = "0x12345678";

/// The footer that the package therefore writes after every payload: that text's masked crc32c; in a file: b3 c0 2d 06.
/// A payload with it cannot be verified: a flipped byte goes unnoticed.
inline constexpr std::uint32_t package_footer = 0x062dc0b3;

/// The footer written after a payload.
enum class footer_kind : std::uint8_t {
    package_constant,  ///< what the Python package writes; it refuses anything else when it reads
    checksum,          ///< the masked crc32c of the payload: TensorFlow's format, and verifiable
};

/// The remaining check of one payload.  A default-constructed one has nothing to check and holds.
/// Borrows: the payload, and the footer after it.  Copies continue from the original's position.
class payload_check {
public:
    payload_check() = default;
    /// `payload` is followed by its footer.  The package's constant, the footer in nearly every file, needs no check
    /// and costs no pass over the payload.
    explicit payload_check(byte_view payload) noexcept
        : payload_(payload), footer_(load_le<std::uint32_t>(payload.data() + payload.size())) {
        needed_ = footer_ != package_footer;
    }

    /// Whether there is anything to check.
    [[nodiscard]] bool needed() const noexcept { return needed_; }

    /// Adds the payload up to the end of `piece` to the checksum; ignores a piece that is not part of the payload.
    /// Cost: one pass over the bytes since the last piece.
    void pass(byte_view piece) noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(payload_.data());
        const auto end = reinterpret_cast<std::uintptr_t>(piece.data()) + piece.size();
        if (needed_ && end > begin && end - begin <= payload_.size()) {
            pass_until(end - begin);
        }
    }

    /// Whether the payload matches the footer; first adds the bytes that no piece has covered.
    [[nodiscard]] bool holds() noexcept { return !needed_ || matches(); }

private:
    void pass_until(std::size_t end) noexcept;
    [[nodiscard]] bool matches() noexcept;

    byte_view payload_;
    std::size_t passed_ = 0;
    std::uint32_t footer_ = package_footer;
    std::uint32_t crc_ = 0;
    bool needed_ = false;
};

}  // namespace record
}  // namespace smdebug::inline v1

#ifndef SMDEBUG_COMPILED
#include <smdebug/record/impl/payload_check.ipp>
#endif
