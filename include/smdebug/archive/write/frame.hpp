// Pieces of an archive that can be unpacked without those before them.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

/// How a .tar is compressed.
enum class compression : std::uint8_t { none, gzip, zstd };

/// Each is a format's usual one where 0.
[[nodiscard]] int usual_level(compression how) noexcept;
/// Whether the format has it.
[[nodiscard]] bool has_level(compression how, int level) noexcept;

/// A member of gzip, a frame of zstd with its checksum, or the bytes themselves.
/// Errors: std::bad_alloc.
[[nodiscard]] std::vector<std::byte> packed_frame(compression how, int level, byte_view bytes);

/// The size of a frame.
struct frame_size {
    std::uint32_t packed = 0;
    std::uint32_t unpacked = 0;
};

/// What follows all frames: for zstd the table of its seekable format, which other readers skip; else nothing.
/// Source: "Zstandard Seekable Format", version 0.1.0, in the repository of zstd.
[[nodiscard]] std::vector<std::byte> seek_table(compression how, std::span<const frame_size> frames);

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/archive/write/impl/frame.ipp>
#endif
