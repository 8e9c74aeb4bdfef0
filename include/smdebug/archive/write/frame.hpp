// The bytes of an archive being written: frames that can each be unpacked alone, heads and padding of a tar.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
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

inline int usual_level(compression how) noexcept {
    return how == compression::zstd ? 3 : (how == compression::gzip ? 6 : 0);
}

inline bool has_level(compression how, int level) noexcept {
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
    // An extra field "SD" with the member's size minus one, so that a reader finds the next member without inflating
    // this one.
    std::array<Bytef, 8> field{'S', 'D', 4, 0, 0, 0, 0, 0};
    gz_header head{};
    head.os = 255;  // unknown
    head.extra = field.data();
    head.extra_len = static_cast<uInt>(field.size());
    deflateSetHeader(&stream, &head);
    std::vector<std::byte> packed(deflateBound(&stream, uLong{bytes.size()}));
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
        16;  // after the fixed part of the head: the fields' length, and "SD" with its own
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

inline std::vector<std::byte> packed_frame(compression how, int level, byte_view bytes) {
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

inline std::vector<std::byte> seek_table(compression how, std::span<const frame_size> frames) {
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

namespace tar {

inline constexpr std::size_t name_bytes = 100;
inline constexpr std::uint64_t octal_end = std::uint64_t{1} << 33U;  // of eleven digits

/// Octal digits and a NUL, as wide as the field; zeros for a number that does not fit.
inline void put_octal(std::string& head, std::size_t begin, std::size_t length, std::uint64_t value) {
    for (std::size_t i = begin + length - 1; i-- > begin; value >>= 3U) {
        head[i] = static_cast<char>('0' + (value & 7U));
    }
}

[[nodiscard]] inline std::string plain_head(std::string_view name, char kind, std::uint64_t size,
                                            std::uint64_t seconds) {
    std::string head(512, '\0');
    name.copy(head.data(), name_bytes);
    put_octal(head, 100, 8, 0644U);
    put_octal(head, 108, 8, 0);
    put_octal(head, 116, 8, 0);
    put_octal(head, 124, 12, size < octal_end ? size : 0);
    put_octal(head, 136, 12, seconds < octal_end ? seconds : 0);
    head[156] = kind;
    std::string_view{"ustar\00000", 8}.copy(head.data() + 257, 8);
    head.replace(148, 8, 8, ' ');
    std::uint64_t sum = 0;
    for (const char one : head) {
        sum += static_cast<unsigned char>(one);
    }
    put_octal(head, 148, 7, sum);
    head[154] = '\0';
    return head;
}

/// "LENGTH KEY=VALUE\n", where the length counts itself.
inline void append_keyword(std::string& text, std::string_view key, std::string_view value) {
    const std::size_t rest = key.size() + value.size() + 3;
    std::size_t length = rest + 1;
    while (std::to_string(length).size() + rest != length) {
        length = std::to_string(length).size() + rest;
    }
    text.append(std::to_string(length)).append(" ").append(key).append("=").append(value).append("\n");
}

}  // namespace tar

inline std::string tar_head(std::string_view name, std::uint64_t size, std::uint64_t seconds) {
    std::string text;
    if (name.size() > tar::name_bytes) {
        tar::append_keyword(text, "path", name);
    }
    if (size >= tar::octal_end) {
        tar::append_keyword(text, "size", std::to_string(size));
    }
    std::string heads;
    if (!text.empty()) {
        heads = tar::plain_head("PaxHeaders/next", 'x', text.size(), seconds);
        text.resize(text.size() + tar_padding(text.size()));
        heads += text;
    }
    return heads + tar::plain_head(name, '0', size, seconds);
}

}  // namespace smdebug::inline v1::archive::detail
