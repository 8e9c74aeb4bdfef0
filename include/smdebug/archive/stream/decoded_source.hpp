// What a compressed stream inflates to, read from any place on.
// The stream is inflated once, front to back, as far as somebody reads, in spans of about 1 MiB; where decoding can begin
// anew at a span's end, what that takes is kept.  A span that is no longer in memory is inflated again from the nearest
// such point, or by a decoder that stands before it.
#pragma once

#include <smdebug/archive/options.hpp>
#include <smdebug/archive/stream/block_pool.hpp>
#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/codec.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/core/function_ref.hpp>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// A part of a stream that is inflated at once.
struct stream_span {
    std::uint64_t begin = 0;
    std::size_t length = 0;
    std::uint64_t sum = 0;                           ///< of its bytes: what is inflated again must be the same
    std::shared_ptr<const access_point> point = {};  ///< before it; null: there is none, or it was not kept
};

/// What somebody kept of a stream, to be inflated again from its middle.
struct kept_stream {
    std::vector<stream_span> spans = {};  ///< all of the stream, in order, without gaps
    /// Called once the stream turns out to be another one; returns what is to be done, for the message.
    std::function<std::string()> is_wrong = {};
};

/// Reads beyond a damaged place throw corrupt_data each time; what lies before it can be read.
/// Memory: options.memory_bytes of inflated bytes, at most 32 MiB of access points, and a few decoders.
/// Cost: in order, that of inflating once; elsewhere, up to a span more a read.
class decoded_source final : public byte_source {
public:
    decoded_source(std::shared_ptr<const byte_source> packed, std::shared_ptr<const codec> format,
                   archive_options options = {})
        : packed_(std::move(packed)), codec_(std::move(format)), options_(std::move(options)) {}
    /// Of a stream whose spans are known.  Errors of reading: unavailable where they are not this stream's.
    decoded_source(std::shared_ptr<const byte_source> packed, std::shared_ptr<const codec> format,
                   archive_options options, kept_stream kept);

    /// As long as a span may be, at most.
    static constexpr std::size_t most_span_bytes = std::size_t{2} << 20U;
    // A stream that is shorter than that may have any ratio.
    static constexpr std::uint64_t any_ratio_bytes = std::uint64_t{64} << 20U;

    [[nodiscard]] SMDEBUG_INLINE byte_buffer read(byte_range where) const override;
    [[nodiscard]] SMDEBUG_INLINE std::size_t read_at(std::uint64_t offset, std::span<std::byte> into) const override;
    [[nodiscard]] SMDEBUG_INLINE byte_buffer part(std::uint64_t offset, std::uint64_t most) const override;
    [[nodiscard]] SMDEBUG_INLINE std::uint64_t size() const override;
    [[nodiscard]] std::string name() const override { return packed_->name(); }

    /// What was done so far: for tests.
    struct counts {
        std::size_t spans = 0;
        std::size_t points = 0;
        std::size_t decoded = 0;  ///< spans, the first time or again
    };
    [[nodiscard]] counts counted() const;

    /// Its spans, once it has been inflated to its end; else, and where it is damaged, none.
    [[nodiscard]] std::vector<stream_span> spans() const;

private:
    static constexpr std::size_t span_bytes = std::size_t{1} << 20U;
    static constexpr std::size_t most_point_bytes = std::size_t{32} << 20U;
    static constexpr std::size_t most_decoders = 4;

    struct kept_span {
        std::size_t number = 0;
        byte_buffer bytes;
    };
    // A decoder that stands before a span.
    struct standing {
        std::size_t number = 0;
        std::unique_ptr<decoder> by;
    };

    // Of a range, what one span has of it: at least a byte, unless the stream ends.
    [[nodiscard]] byte_buffer first_part(byte_range where) const;
    // Calls take(bytes) for the parts of a range, in order.
    void each_part(byte_range where, function_ref<void(byte_buffer)> take) const;
    [[nodiscard]] std::optional<std::size_t> span_at(std::uint64_t offset) const;  // inflates as far as that
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
    std::function<std::string()> is_wrong_;  // of kept spans
    block_pool blocks_{most_span_bytes};

    mutable std::mutex growing_;  // held while the stream is inflated for the first time
    mutable std::unique_ptr<decoder> frontier_;

    mutable std::mutex guard_;  // of all that follows
    mutable std::condition_variable over_;
    mutable std::vector<stream_span> spans_;
    mutable std::uint64_t length_ = 0;  // of the spans
    mutable bool complete_ = false;
    mutable std::exception_ptr broken_;    // why it cannot be inflated any further
    mutable std::list<kept_span> recent_;  // least recently used last
    mutable std::unordered_map<std::size_t, std::list<kept_span>::iterator> places_;
    mutable std::uint64_t kept_bytes_ = 0;
    mutable std::size_t point_bytes_ = 0;
    mutable std::size_t point_stride_ = 1;
    mutable std::vector<standing> decoders_;
    mutable std::vector<std::size_t> under_way_;
    mutable std::size_t decoded_ = 0;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/stream/impl/decoded_source.ipp>
#endif
