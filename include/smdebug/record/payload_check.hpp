// A payload's checksum, taken piece by piece while somebody else works through the payload.
// Checking first and working then loads a large payload from memory twice.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/record/crc_check.hpp>

#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace record {

/// What is left to check of one payload.  A default one has nothing to check and holds.
/// Borrows: the payload, and the footer behind it.  Copies go on from where the original is.
class payload_check {
public:
    payload_check() = default;
    /// `payload` is followed by its footer.  The package's constant, which stands in nearly every file, leaves nothing
    /// to check and costs no pass over the payload.
    explicit payload_check(byte_view payload) noexcept
        : payload_(payload), footer_(load_le<std::uint32_t>(payload.data() + payload.size())) {
        needed_ = footer_ != package_footer;
    }

    /// Whether there is anything to check.
    [[nodiscard]] bool needed() const noexcept { return needed_; }

    /// Takes in the payload up to the end of `piece`; a piece that is no part of the payload tells nothing.
    /// Cost: one pass over the bytes since the last piece.
    void pass(byte_view piece) noexcept {
        const auto begin = reinterpret_cast<std::uintptr_t>(payload_.data());
        const auto end = reinterpret_cast<std::uintptr_t>(piece.data()) + piece.size();
        if (needed_ && end > begin && end - begin <= payload_.size()) {
            pass_until(end - begin);
        }
    }

    /// Whether the payload is what the footer says; takes in what no piece has.
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
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/record/impl/payload_check.ipp>
#endif
