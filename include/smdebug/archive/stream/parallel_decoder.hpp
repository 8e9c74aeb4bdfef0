// Decoding ahead on several threads, where a stream is made of parts that can each be decoded alone: members of gzip that
// tell their size, as bgzip and smdebug pack write them, and frames of zstd.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/archive/stream/codec.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// The decoder of a whole stream, from its beginning on.  Where parts are not told, or one inflates to more than 32 MiB, it
/// goes on alone from there.
/// Memory: threads + 1 parts, of usually some MiB.  Threads: one at a time asks; it starts its own, and waits for them.
class parallel_decoder final : public decoder {
public:
    parallel_decoder(std::shared_ptr<const byte_source> packed, std::shared_ptr<const codec> format, unsigned threads)
        : packed_(std::move(packed)), codec_(std::move(format)), threads_(threads) {}

    [[nodiscard]] SMDEBUG_INLINE std::size_t decode(std::span<std::byte> out, std::size_t enough) override;
    [[nodiscard]] SMDEBUG_INLINE std::uint64_t consumed() const noexcept override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const access_point> point() const override;

    /// How many parts were decoded ahead: for tests.
    [[nodiscard]] std::size_t parts() const noexcept { return parts_; }

private:
    static constexpr std::size_t most_part_bytes = std::size_t{32} << 20U;

    /// What a part inflates to; nothing where it is to be decoded by the one that goes on alone.
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
    std::uint64_t next_begin_ = 0;  // of the part that is looked for next
    bool no_more_ = false;          // parts are told no further
    std::deque<std::future<part>> ahead_;
    part current_;
    std::size_t taken_ = 0;  // of current_
    std::size_t parts_ = 0;
    std::unique_ptr<decoder> alone_;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/stream/impl/parallel_decoder.ipp>
#endif
