// The inflated bytes of a compressed stream, readable at any offset.
// The stream is inflated once, front to back, as far as it is read, in spans of about 1 MiB; where decoding can restart
// at the end of a span, an access point is kept.  A span that is no longer in memory is inflated again from the nearest
// access point before it, or by a decoder that already stands before it.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>
#include <smdebug/core/lru.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Reuses memory for inflated bytes: fresh pages from the system cost about as much as copying them.
namespace smdebug::inline v1::archive::detail {

/// Blocks of one size.  Blocks that are no longer in use are kept for reuse, up to a few.  Threads: all functions may
/// be called concurrently.
class block_pool {
public:
    explicit block_pool(std::size_t block_bytes)
        : spare_(std::make_shared<spare_blocks>()), block_bytes_(block_bytes) {}

    /// A block with unspecified content; it may outlive the pool.
    [[nodiscard]] std::shared_ptr<std::byte[]> take() const {
        std::unique_ptr<std::byte[]> block = spare_->take();
        if (block == nullptr) {
            block = std::make_unique_for_overwrite<std::byte[]>(block_bytes_);
        }
        // If that fails, the block is returned all the same.
        return {block.release(), [spare = spare_](std::byte* back) { spare->put(std::unique_ptr<std::byte[]>{back}); }};
    }

private:
    struct spare_blocks {
        static constexpr std::size_t most = 4;

        spare_blocks() { blocks.reserve(most); }
        [[nodiscard]] std::unique_ptr<std::byte[]> take() {
            const std::lock_guard lock{guard};
            if (blocks.empty()) {
                return nullptr;
            }
            std::unique_ptr<std::byte[]> block = std::move(blocks.back());
            blocks.pop_back();
            return block;
        }
        void put(std::unique_ptr<std::byte[]> block) noexcept {
            const std::lock_guard lock{guard};
            if (blocks.size() < most) {
                blocks.push_back(std::move(block));  // within the reserved capacity
            }
        }
        std::mutex guard;
        std::vector<std::unique_ptr<std::byte[]>> blocks;
    };

    std::shared_ptr<spare_blocks> spare_;
    std::size_t block_bytes_;
};

/// A part of a stream that is inflated at once.
struct stream_span {
    std::uint64_t begin = 0;
    std::size_t length = 0;
    std::uint64_t sum = 0;                           ///< of its bytes: inflating it again must give the same
    std::shared_ptr<const access_point> point = {};  ///< before it; null if there is none, or it was not kept
};

/// The stored spans of a stream, from which inflating can begin in its middle.
struct kept_stream {
    std::vector<stream_span> spans = {};  ///< all of the stream, in order, without gaps
    /// Called once if the spans turn out to belong to another stream; returns what the user can do, for the message.
    std::function<std::string()> is_wrong = {};
};

/// Reads beyond a damaged place throw corrupt_data each time; all bytes before it can be read.
/// Memory: options.memory_bytes of inflated bytes, at most 32 MiB of access points, and a few decoders.
/// Cost: reading in order inflates each byte once; a read elsewhere inflates up to a span more.
class decoded_source final : public byte_source {
public:
    decoded_source(std::shared_ptr<const byte_source> packed, std::shared_ptr<const codec> format,
                   archive_options options = {})
        : packed_(std::move(packed)), codec_(std::move(format)), options_(std::move(options)) {}
    /// A stream with known spans.  Errors of reading: unavailable if the spans do not belong to this stream.
    decoded_source(std::shared_ptr<const byte_source> packed, std::shared_ptr<const codec> format,
                   archive_options options, kept_stream kept);

    /// The maximum length of a span.
    static constexpr std::size_t most_span_bytes = std::size_t{2} << 20U;
    // The ratio of a shorter stream is not checked.
    static constexpr std::uint64_t any_ratio_bytes = std::uint64_t{64} << 20U;

    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(byte_range where) const override;
    [[nodiscard]] SMDEBUG_INLINE std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override;
    [[nodiscard]] SMDEBUG_INLINE byte_buffer part(std::uint64_t offset, std::uint64_t most) const override;
    [[nodiscard]] SMDEBUG_INLINE std::uint64_t size() const override;
    [[nodiscard]] std::string name() const override { return packed_->name(); }

    /// The work done so far; for tests.
    struct counts {
        std::size_t spans = 0;
        std::size_t points = 0;
        std::size_t decoded = 0;  ///< spans, the first time or again
    };
    [[nodiscard]] counts counted() const;

    /// The spans, once the stream has been inflated to its end; empty before that, and for a damaged stream.
    [[nodiscard]] std::vector<stream_span> spans() const;

private:
    static constexpr std::size_t span_bytes = std::size_t{1} << 20U;
    static constexpr std::size_t most_point_bytes = std::size_t{32} << 20U;
    static constexpr std::size_t most_decoders = 4;

    // A decoder that stands before a span.
    struct standing {
        std::size_t number = 0;
        std::unique_ptr<decoder> by;
    };

    // The part of a range that lies in one span: at least a byte, unless the stream ends.
    [[nodiscard]] byte_buffer first_part(byte_range where) const;
    // Calls take(bytes) for the parts of a range, in order.
    void each_part(byte_range where, function_ref<void(byte_buffer)> take) const;
    [[nodiscard]] std::optional<std::size_t> span_at(std::uint64_t offset) const;  // inflates that far
    [[nodiscard]] byte_buffer span(std::size_t number) const;
    [[nodiscard]] byte_buffer decode_again(std::size_t number) const;
    bool grow() const;
    void check_growth(std::uint64_t bytes, std::uint64_t consumed) const;
    void keep(std::size_t number, const byte_buffer& bytes) const;
    void thin_points() const;
    [[nodiscard]] byte_buffer kept(std::size_t number) const;
    [[nodiscard]] standing take_decoder(std::size_t number) const;
    [[nodiscard]] std::unique_ptr<decoder> decoder_behind_all() const;
    [[noreturn]] void fail_changed(std::uint64_t consumed) const;

    std::shared_ptr<const byte_source> packed_;
    std::shared_ptr<const codec> codec_;
    archive_options options_;
    std::function<std::string()> is_wrong_;  // see kept_stream::is_wrong
    block_pool blocks_{most_span_bytes};

    mutable std::mutex growing_;  // held while the stream is inflated for the first time
    mutable std::unique_ptr<decoder> frontier_;

    mutable std::mutex guard_;  // protects all members below
    mutable std::condition_variable over_;
    mutable std::vector<stream_span> spans_;
    mutable std::uint64_t length_ = 0;  // of the spans
    mutable bool complete_ = false;
    mutable std::exception_ptr broken_;  // why it cannot be inflated any further
    mutable smdebug::detail::lru<std::size_t, byte_buffer> recent_{options_.memory_bytes, 2};  // by their numbers
    mutable std::size_t point_bytes_ = 0;
    mutable std::size_t point_stride_ = 1;
    mutable std::vector<standing> decoders_;
    mutable std::vector<std::size_t> under_way_;
    mutable std::size_t decoded_ = 0;
};

// Decodes ahead on several threads, for streams whose parts can each be decoded alone: gzip members that store their
// size, as bgzip and smdebug pack write them, and frames of zstd.

/// The decoder of a whole stream, from its beginning on.  Where parts do not store their size, or one inflates to more
/// than 32 MiB, a single decoder continues from there.
/// Memory: threads + 1 parts, usually of some MiB.  Threads: called by one at a time; it starts its own, and joins
///         them.
class parallel_decoder final : public decoder {
public:
    parallel_decoder(std::shared_ptr<const byte_source> packed, std::shared_ptr<const codec> format, unsigned threads)
        : packed_(std::move(packed)), codec_(std::move(format)), threads_(threads) {}

    [[nodiscard]] SMDEBUG_INLINE std::size_t decode(std::span<std::byte> out, std::size_t enough) override;
    [[nodiscard]] SMDEBUG_INLINE std::uint64_t consumed() const noexcept override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const access_point> point() const override;

    /// The number of parts that were decoded ahead; for tests.
    [[nodiscard]] std::size_t parts() const noexcept { return parts_; }

private:
    static constexpr std::size_t most_part_bytes = std::size_t{32} << 20U;

    /// The inflated part; nothing if the single decoder must continue with it.
    struct part {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        std::optional<std::vector<std::byte>> bytes = {};
    };

    [[nodiscard]] part decode_part(std::uint64_t begin, std::uint64_t end) const;
    void look_ahead();
    [[nodiscard]] bool next_part();

    std::shared_ptr<const byte_source> packed_;
    std::shared_ptr<const codec> codec_;
    unsigned threads_;
    std::uint64_t next_begin_ = 0;  // the part that is looked for next
    bool no_more_ = false;          // the next part does not store its size
    std::deque<std::future<part>> ahead_;
    part current_;
    std::size_t taken_ = 0;  // of current_
    std::size_t parts_ = 0;
    std::unique_ptr<decoder> alone_;
};

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/stream/impl/decoded_source.ipp>
#endif
