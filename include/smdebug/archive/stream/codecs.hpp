// The two codecs.  Deflate by zlib: .gz, also with several members, and the members of a .zip.  Zstandard by libzstd:
// one frame, or many, as its seekable format has them.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace smdebug::inline v1::archive::detail {

/// The framing around the deflated bytes.
enum class deflate_wrap : std::uint8_t {
    gzip,  ///< members with head and checksum, as gzip, pigz and bgzip write them
    none,  ///< one raw stream; bytes after its end are ignored
};

/// Access points lie at the ends of deflate blocks: position, bits and 32 KiB of window.
/// Parts are gzip members that store their size in an extra field of their head: bgzip's "BC" (two bytes) and "SD" of
/// smdebug pack (four bytes); each holds the size of the whole member minus one.
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

/// Access points lie between frames: an archive in a single frame, as zstd and tar write it, has none except its
/// beginning.  Skippable frames are skipped.  A window above 128 MiB is refused.
class zstd_codec final : public codec {
public:
    [[nodiscard]] SMDEBUG_INLINE std::unique_ptr<decoder> begin(std::shared_ptr<const byte_source> packed,
                                                                const access_point* from) const override;
    [[nodiscard]] SMDEBUG_INLINE std::optional<std::uint64_t> part_end(const byte_source& packed,
                                                                       std::uint64_t begin) const override;
    [[nodiscard]] bool gains_by_threads() const noexcept override { return false; }  // 0.66 x on two, where gzip gains
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const access_point> part_point(std::uint64_t begin) const override;
    [[nodiscard]] SMDEBUG_INLINE std::shared_ptr<const access_point> restore(byte_view written) const override;
    [[nodiscard]] std::string_view name() const noexcept override { return "zstd"; }
};

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/stream/impl/codecs.ipp>
#endif
