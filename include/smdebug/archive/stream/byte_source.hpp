// Bytes that can be read at any offset: an archive in its storage, a part of it, or its inflated stream.
#pragma once

#include <smdebug/core/abstract.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/function_ref.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::archive::detail {

/// What read_many() calls for each range: its place in the list, and the bytes. False ends the reading.
using part_sink = visitor_ref<std::size_t, byte_buffer>;

/// Threads: all functions may be called concurrently.
class byte_source : public smdebug::detail::abstract {
public:
    /// A range, cut at the end of the source.  Errors: unavailable (the source changed since it was opened),
    /// corrupt_data, and those of its storage.
    [[nodiscard]] virtual byte_buffer read(byte_range where) const = 0;
    /// Reads from `offset` until `into` is full or the source ends; returns the number of bytes read.  Errors: as
    /// read().
    [[nodiscard]] virtual std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const {
        const byte_buffer bytes = read({offset, into.size()});
        std::copy(bytes.view().begin(), bytes.view().end(), into.begin());
        return bytes.size();
    }
    /// At most so many bytes from `offset` on without copying, if they are in memory; fewer, or none, if not.
    /// Errors: as read().
    [[nodiscard]] virtual byte_buffer part(std::uint64_t /*offset*/, std::uint64_t /*most*/) const { return {}; }
    /// Reads many ranges and passes them on in the order of the list, on this thread.
    virtual void read_many(std::span<const byte_range> ranges, part_sink sink) const {
        for (std::size_t i = 0; i < ranges.size(); ++i) {
            if (!sink(i, read(ranges[i]))) {
                return;
            }
        }
    }
    /// The size.  A compressed stream that does not store its inflated size is inflated to its end for this.
    [[nodiscard]] virtual std::uint64_t size() const = 0;
    /// Identifies this version among all that ever had this name: a tag, or the time of writing; empty if the storage
    /// has neither.
    [[nodiscard]] virtual std::string version() const { return {}; }
    /// The object beside it whose name has this suffix; null if there is none.  Errors: those of the storage.
    [[nodiscard]] virtual std::shared_ptr<const byte_source> sibling(std::string_view /*more*/) const {
        return nullptr;
    }
    /// For messages: the path of the archive, for a part and for the inflated bytes, too.
    [[nodiscard]] virtual std::string name() const = 0;
    /// Whether reading many ranges at once costs less than one by one.
    [[nodiscard]] virtual bool batches_ranges() const { return false; }
};

/// A part of another source, which it keeps alive.
class part_source final : public byte_source {
public:
    part_source(std::shared_ptr<const byte_source> whole, byte_range part) : whole_(std::move(whole)), part_(part) {}

    [[nodiscard]] byte_buffer read(byte_range where) const override {
        if (where.offset >= part_.length) {
            return {};
        }
        const std::uint64_t left = part_.length - where.offset;
        return whole_->read({part_.offset + where.offset, where.length < left ? where.length : left});
    }
    [[nodiscard]] std::uint64_t size() const override { return part_.length; }
    [[nodiscard]] std::string name() const override { return whole_->name(); }

private:
    std::shared_ptr<const byte_source> whole_;
    byte_range part_;
};

// The compressed input of a decoder, read piece by piece.

/// Reads ahead in pieces of 256 KiB; if the source prefers many ranges at once, eight of 1 MiB together, to hide the
/// latency of a remote storage.  Threads: one at a time.
class packed_input {
public:
    packed_input(std::shared_ptr<const byte_source> from, std::uint64_t offset)
        : from_(std::move(from)), offset_(offset) {}

    /// The bytes that are read and not consumed yet; not empty after more() returned true.
    [[nodiscard]] byte_view view() const noexcept { return piece_.view().subspan(taken_); }
    /// Consumes bytes of view().
    void take(std::size_t count) noexcept {
        taken_ += count;
        offset_ += count;
    }
    /// Reads the next piece if view() is empty; false at the end.  Errors: those of the source.
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
        joined.reserve(std::size_t{end - std::min(end, offset_)});
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

// What a compressed format must provide so that its stream can be read at any offset.

/// A place of a compressed stream where decoding can begin, with the state that this needs: position, bits, window.
class access_point : public smdebug::detail::abstract {
public:
    /// Bytes of memory that the point takes.
    [[nodiscard]] virtual std::size_t cost() const noexcept = 0;
    /// The bytes from which codec::restore() makes the point again.  Errors: those of the file that it is stored in.
    [[nodiscard]] virtual std::vector<std::byte> written() const = 0;
    /// Loads a point that is still in its file: the loaded point, or null if the file is gone or damaged.  A loaded
    /// point returns `self`.
    [[nodiscard]] virtual std::shared_ptr<const access_point> loaded(std::shared_ptr<const access_point> self) const {
        return self;
    }
};

/// Decodes a stream from one place on.  Threads: one at a time.
class decoder : public smdebug::detail::abstract {
public:
    /// Fills `out` from its front; returns 0 at the stream's end.  Once `enough` bytes are written it stops at the next
    /// possible access point.
    /// Errors: corrupt_data, with the offset in the compressed stream; earlier calls have returned all bytes before the
    ///         damage.
    [[nodiscard]] virtual std::size_t decode(std::span<std::byte> out, std::size_t enough) = 0;
    /// The number of bytes of the compressed stream that were consumed, from the stream's beginning on.
    [[nodiscard]] virtual std::uint64_t consumed() const noexcept = 0;
    /// The current place as an access point; null if decoding cannot begin here.
    [[nodiscard]] virtual std::shared_ptr<const access_point> point() const = 0;
};

/// A compressed format.
class codec : public smdebug::detail::abstract {
public:
    /// A decoder of the stream in `packed`, from the beginning (null) or from a point on.
    [[nodiscard]] virtual std::unique_ptr<decoder> begin(std::shared_ptr<const byte_source> packed,
                                                         const access_point* from) const = 0;
    /// Restores a point from its bytes; null if they are not a point.  The bytes are untrusted, and validated in full.
    [[nodiscard]] virtual std::shared_ptr<const access_point> restore(byte_view written) const = 0;
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// The end of the bytes from `begin` on that can be decoded independently of those around them: some 256 KiB or
    /// more, if parts are smaller.  `begin` is the stream's beginning, or such an end.  Nothing if the stream does not
    /// store that.
    [[nodiscard]] virtual std::optional<std::uint64_t> part_end(const byte_source& packed,
                                                                std::uint64_t begin) const = 0;
    /// Whether decoding is so much slower than passing bytes between threads that several threads are faster.
    [[nodiscard]] virtual bool gains_by_threads() const noexcept = 0;
    /// The access point at the beginning of such a part.
    [[nodiscard]] virtual std::shared_ptr<const access_point> part_point(std::uint64_t begin) const = 0;

protected:
    static constexpr std::uint64_t enough_for_part = std::uint64_t{256} << 10U;
    static constexpr std::uint64_t most_for_part = std::uint64_t{16} << 20U;
};

}  // namespace smdebug::inline v1::archive::detail
