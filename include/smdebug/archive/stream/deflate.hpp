// Deflate by zlib: .gz, several members behind each other, too, and what .zip has.
#pragma once

#include <smdebug/archive/stream/codec.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// What is around the deflated bytes.
enum class deflate_wrap : std::uint8_t {
    gzip,  ///< members with head and checksum, as gzip, pigz and bgzip write them
    none,  ///< one raw stream; whatever comes behind it is not looked at
};

/// Access points lie at the ends of deflate blocks: position, bits and 32 KiB of window.
/// Parts are members that tell their size in an extra field of their head: bgzip's "BC", of two bytes, and "SD" of smdebug
/// pack, of four; each is that of the whole member, less one.
class deflate_codec final : public codec {
public:
    explicit deflate_codec(deflate_wrap wrap) noexcept : wrap_(wrap) {}

    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<decoder> begin(std::shared_ptr<const byte_source> packed,
                                                                const access_point* from) const override;
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::uint64_t> part_end(const byte_source& packed,
                                                                       std::uint64_t begin) const override;
    [[nodiscard]] bool gains_by_threads() const noexcept override { return true; }
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const access_point> part_point(std::uint64_t begin) const override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const access_point> restore(byte_view written) const override;
    [[nodiscard]] std::string_view name() const noexcept override {
        return wrap_ == deflate_wrap::gzip ? "gzip" : "deflate";
    }

private:
    deflate_wrap wrap_;
};

/// The CRC-32 of zip and gzip.
[[nodiscard]] std::uint32_t crc32_of(byte_view bytes) noexcept;

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/stream/impl/deflate.ipp>
#endif
