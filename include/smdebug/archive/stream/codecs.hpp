// The two codecs.  Deflate by zlib: .gz, also with several members, and the members of a .zip.  Zstandard by libzstd:
// one frame, or many, as its seekable format has them.
#pragma once

#include <smdebug/archive/stream/byte_source.hpp>
#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstdint>
#include <memory>

namespace smdebug::inline v1::archive::detail {

/// The framing around the deflated bytes.
enum class deflate_wrap : std::uint8_t {
    gzip,  ///< members with head and checksum, as gzip, pigz and bgzip write them
    none,  ///< one raw stream; bytes after its end are ignored
};

/// The format deflate.  Access points lie at the ends of deflate blocks: position, bits and 32 KiB of window.
/// Parts are gzip members that store their size in an extra field of their head: bgzip's "BC" (two bytes) and "SD" of
/// smdebug pack (four bytes); each holds the size of the whole member minus one.
[[nodiscard]] std::shared_ptr<const codec> deflate_codec(deflate_wrap wrap);

/// The CRC-32 of zip and gzip.
[[nodiscard]] std::uint32_t crc32_of(byte_view bytes) noexcept;

/// The format of Zstandard.  Access points lie between frames: an archive in a single frame, as zstd and tar write it,
/// has none except its beginning.  Skippable frames are skipped.  A window above 128 MiB is refused.
[[nodiscard]] std::shared_ptr<const codec> zstd_codec();

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/stream/impl/codecs.ipp>
#endif
