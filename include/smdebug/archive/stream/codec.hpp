// What a compressed format has to offer so that its stream can be read from any place on.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// A place of a compressed stream where decoding can begin, with all that it takes: position, bits, window.
class access_point {
public:
    access_point() = default;
    access_point(const access_point&) = delete;
    access_point& operator=(const access_point&) = delete;
    virtual ~access_point() = default;

    /// Bytes of memory that it takes.
    [[nodiscard]] virtual std::size_t cost() const noexcept = 0;
    /// What codec::restore() makes it of again.  Errors: those of where it is kept.
    [[nodiscard]] virtual std::vector<std::byte> written() const = 0;
    /// Of one that only knows where it is kept: the point itself, or null where that is gone or damaged; else `self`.
    [[nodiscard]] virtual std::shared_ptr<const access_point> loaded(std::shared_ptr<const access_point> self) const {
        return self;
    }
};

/// Decodes a stream from one place on.  Threads: one at a time.
class decoder {
public:
    decoder() = default;
    decoder(const decoder&) = delete;
    decoder& operator=(const decoder&) = delete;
    virtual ~decoder() = default;

    /// Fills `out` from its front; 0 bytes at the stream's end.  Stops early, where that is possible, at a place for an
    /// access point once `enough` bytes are there.
    /// Errors: corrupt_data, with the offset in the compressed stream; what came before it is given by an earlier call.
    [[nodiscard]] virtual std::size_t decode(std::span<std::byte> out, std::size_t enough) = 0;
    /// How many bytes of the compressed stream it took, from the stream's beginning on.
    [[nodiscard]] virtual std::uint64_t consumed() const noexcept = 0;
    /// The place that has been reached as an access point; null where decoding cannot begin there.
    [[nodiscard]] virtual std::shared_ptr<const access_point> point() const = 0;
};

/// A compressed format.
class codec {
public:
    codec() = default;
    codec(const codec&) = delete;
    codec& operator=(const codec&) = delete;
    virtual ~codec() = default;

    /// A decoder of the stream in `packed`, from the beginning (null) or from a point on.
    [[nodiscard]] virtual std::unique_ptr<decoder> begin(std::shared_ptr<const byte_source> packed,
                                                         const access_point* from) const = 0;
    /// The point that was written so; null where the bytes are none.  They come from outside: nothing of them is believed.
    [[nodiscard]] virtual std::shared_ptr<const access_point> restore(byte_view written) const = 0;
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// Where the bytes from `begin` on end that can be decoded without those before and behind them: some 256 KiB or more,
    /// where parts are smaller.  `begin` is the stream's beginning, or such an end.  Nothing where that is not told.
    [[nodiscard]] virtual std::optional<std::uint64_t> part_end(const byte_source& packed,
                                                                std::uint64_t begin) const = 0;
    /// Whether decoding takes so much longer than handing bytes from one thread to another that several are faster.
    [[nodiscard]] virtual bool gains_by_threads() const noexcept = 0;
    /// The place before such a part.
    [[nodiscard]] virtual std::shared_ptr<const access_point> part_point(std::uint64_t begin) const = 0;

protected:
    static constexpr std::uint64_t enough_for_part = std::uint64_t{256} << 10U;
    static constexpr std::uint64_t most_for_part = std::uint64_t{16} << 20U;
};

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
