// The bytes of an archive being written: frames that can each be unpacked alone, heads and padding of a tar.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::archive::detail {

/// How a .tar is compressed: not at all, by gzip, or by zstd.
enum class compression : std::uint8_t { none, gzip, zstd };

/// The level that stands for 0 in pack_options::level.
[[nodiscard]] int usual_level(compression how) noexcept;
/// Whether the format has this level.
[[nodiscard]] bool has_level(compression how, int level) noexcept;

/// A member of gzip, a frame of zstd with its checksum, or the bytes themselves.
/// Errors: std::bad_alloc.
[[nodiscard]] std::vector<std::byte> packed_frame(compression how, int level, byte_view bytes);

/// The size of a frame.
struct frame_size {
    std::uint32_t packed = 0;
    std::uint32_t unpacked = 0;
};

/// The bytes after all frames: for zstd the table of its seekable format, which other readers skip; else none.
/// Source: "Zstandard Seekable Format", version 0.1.0, in the repository of zstd.
[[nodiscard]] std::vector<std::byte> seek_table(compression how, std::span<const frame_size> frames);

/// The bytes before a file's content: one head of 512 bytes, preceded by a pax head and its text if the name has more
/// than 100 bytes or the file has 8 GiB or more.  `seconds`: when the file was written, since 1970.
/// Source: POSIX.1-2017, pax, "ustar Interchange Format" and "pax Extended Header".
[[nodiscard]] std::string tar_head(std::string_view name, std::uint64_t size, std::uint64_t seconds);

/// The number of padding bytes after a file of that size.
[[nodiscard]] constexpr std::uint64_t tar_padding(std::uint64_t size) noexcept { return (512 - size % 512) % 512; }

/// The bytes at the end of an archive.
inline constexpr std::size_t tar_end_bytes = 1024;

}  // namespace smdebug::inline v1::archive::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/write/impl/frame.ipp>
#endif
