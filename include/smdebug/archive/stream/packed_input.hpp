// The compressed bytes that a decoder takes, piece by piece.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Reads ahead by pieces of 256 KiB.  Threads: one at a time.
class packed_input {
public:
    packed_input(std::shared_ptr<const byte_source> from, std::uint64_t offset)
        : from_(std::move(from)), offset_(offset) {}

    /// What has been read and not been taken; after a call of more() that gave true, not empty.
    [[nodiscard]] byte_view view() const noexcept { return piece_.view().subspan(taken_); }
    /// Takes bytes of view().
    void take(std::size_t count) noexcept {
        taken_ += count;
        offset_ += count;
    }
    /// Reads on where nothing is left; false at the end.  Errors: those of the source.
    [[nodiscard]] bool more() {
        if (taken_ == piece_.size()) {
            piece_ = from_->read({offset_, piece_bytes});
            taken_ = 0;
        }
        return !piece_.empty();
    }
    /// The offset of the next byte.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] const byte_source& source() const noexcept { return *from_; }

private:
    static constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10U;

    std::shared_ptr<const byte_source> from_;
    byte_buffer piece_;
    std::size_t taken_ = 0;
    std::uint64_t offset_ = 0;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
