// The bodies of <smdebug/archive/write/frame.hpp>.
#pragma once

#include <smdebug/archive/write/frame.hpp>

#include <zlib.h>
#include <zstd.h>

#include <array>
#include <memory>
#include <new>

namespace smdebug {
inline namespace v1 {
namespace archive {
namespace detail {

SMDEBUG_INLINE int usual_level(compression how) noexcept {
    return how == compression::zstd ? 3 : (how == compression::gzip ? 6 : 0);
}

SMDEBUG_INLINE bool has_level(compression how, int level) noexcept {
    const int most = how == compression::zstd ? 19 : (how == compression::gzip ? 9 : 0);
    return level >= 0 && level <= most;
}

[[nodiscard]] inline std::vector<std::byte> gzip_member(int level, byte_view bytes) {
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::bad_alloc{};
    }
    struct end {
        z_stream& of;
        ~end() { deflateEnd(&of); }
    } const ends{stream};
    // An extra field "SD" with the member's size, less one, so that who reads need not inflate it to find the next.
    std::array<Bytef, 8> field{'S', 'D', 4, 0, 0, 0, 0, 0};
    gz_header head{};
    head.os = 255;  // unknown
    head.extra = field.data();
    head.extra_len = static_cast<uInt>(field.size());
    deflateSetHeader(&stream, &head);
    std::vector<std::byte> packed(deflateBound(&stream, static_cast<uLong>(bytes.size())));
    // zlib does not write to its input.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) {
        throw std::bad_alloc{};  // there was room for all of it
    }
    packed.resize(stream.total_out);
    constexpr std::size_t size_offset =
        16;  // behind the fixed part of the head, the fields' length, and "SD" with its own
    store_le(packed.data() + size_offset, static_cast<std::uint32_t>(packed.size() - 1));
    return packed;
}

[[nodiscard]] inline std::vector<std::byte> zstd_frame(int level, byte_view bytes) {
    struct free_context {
        void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
    };
    const std::unique_ptr<ZSTD_CCtx, free_context> context{ZSTD_createCCtx()};
    if (!context) {
        throw std::bad_alloc{};
    }
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
    std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
    const std::size_t length = ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(length) != 0U) {
        throw std::bad_alloc{};  // there was room for all of it
    }
    packed.resize(length);
    return packed;
}

SMDEBUG_INLINE std::vector<std::byte> packed_frame(compression how, int level, byte_view bytes) {
    switch (how) {
        case compression::gzip:
            return gzip_member(level, bytes);
        case compression::zstd:
            return zstd_frame(level, bytes);
        case compression::none:
            break;
    }
    return {bytes.begin(), bytes.end()};
}

SMDEBUG_INLINE std::vector<std::byte> seek_table(compression how, std::span<const frame_size> frames) {
    constexpr std::uint32_t skippable = 0x184D2A5EU;
    constexpr std::uint32_t seekable = 0x8F92EAB1U;
    constexpr std::size_t most_frames = 0x8000000;
    if (how != compression::zstd || frames.empty() || frames.size() > most_frames) {
        return {};
    }
    std::vector<std::byte> table(8 + 8 * frames.size() + 9);
    std::byte* to = table.data();
    const auto put = [&](std::uint32_t value) {
        store_le(to, value);
        to += sizeof value;
    };
    put(skippable);
    put(static_cast<std::uint32_t>(table.size() - 8));
    for (const frame_size& one : frames) {
        put(one.packed);
        put(one.unpacked);
    }
    put(static_cast<std::uint32_t>(frames.size()));
    *to++ = std::byte{0};  // without checksums: each frame has its own
    put(seekable);
    return table;
}

}  // namespace detail
}  // namespace archive
}  // namespace v1
}  // namespace smdebug
