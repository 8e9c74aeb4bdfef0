// The compressed bytes that a decoder takes, piece by piece.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// Reads ahead by pieces of 256 KiB; where many ranges at once cost less, by eight of 1 MiB together, as from afar each call
/// takes its time.  Threads: one at a time.
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
            piece_ = from_->batches_ranges() ? read_together() : from_->read({offset_, piece_bytes});
            taken_ = 0;
        }
        return !piece_.empty();
    }
    /// The offset of the next byte.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    [[nodiscard]] const byte_source& source() const noexcept { return *from_; }

private:
    static constexpr std::uint64_t piece_bytes = std::uint64_t{256} << 10U;
    static constexpr std::uint64_t far_piece_bytes = std::uint64_t{1} << 20U;
    static constexpr std::size_t pieces_together = 8;

    [[nodiscard]] byte_buffer read_together() const {
        std::vector<byte_range> pieces;
        const std::uint64_t end = std::min(from_->size(), offset_ + pieces_together * far_piece_bytes);
        for (std::uint64_t begin = offset_; begin < end; begin += far_piece_bytes) {
            pieces.push_back({begin, std::min(far_piece_bytes, end - begin)});
        }
        std::vector<std::byte> joined;
        joined.reserve(static_cast<std::size_t>(end - std::min(end, offset_)));
        from_->read_many(pieces, [&](std::size_t, const byte_buffer& piece) {
            joined.insert(joined.end(), piece.view().begin(), piece.view().end());
        });
        return byte_buffer::take(std::move(joined));
    }

    std::shared_ptr<const byte_source> from_;
    byte_buffer piece_;
    std::size_t taken_ = 0;
    std::uint64_t offset_ = 0;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
