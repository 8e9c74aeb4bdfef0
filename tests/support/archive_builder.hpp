// Archives made in memory, byte by byte, so that a test decides their content and their damage.
#pragma once

#include <smdebug/core/bytes.hpp>

#include <zlib.h>
#include <zstd.h>

#include "support/standard.hpp"

namespace smdebug_test {

/// The fields of a tar header.
struct tar_entry {
    std::string name;
    std::string content = {};
    char kind = '0';
    std::string link = {};
};

inline void set_tar_sum(std::string& head) {
    head.replace(148, 8, "        ");
    unsigned sum = 0;
    for (const char one : head) {
        sum += static_cast<unsigned char>(one);
    }
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%06o", sum);
    std::memcpy(head.data() + 148, text.data(), 7);
    head[155] = ' ';
}

/// A ustar header; the name is at most 100 bytes long.
inline std::string tar_head(const tar_entry& entry) {
    std::string head(512, '\0');
    entry.name.copy(head.data(), 100);
    std::snprintf(head.data() + 100, 8, "%07o", 0644U);
    std::snprintf(head.data() + 108, 8, "%07o", 0U);
    std::snprintf(head.data() + 116, 8, "%07o", 0U);
    std::snprintf(head.data() + 124, 12, "%011llo", static_cast<unsigned long long>(entry.content.size()));
    std::snprintf(head.data() + 136, 12, "%011o", 0U);
    head[156] = entry.kind;
    entry.link.copy(head.data() + 157, 100);
    std::memcpy(head.data() + 257, "ustar\00000", 8);
    set_tar_sum(head);
    return head;
}

inline std::string padded_to_block(std::string content) {
    content.resize((content.size() + 511) / 512 * 512);
    return content;
}

inline std::string tar_member(const tar_entry& entry) {
    if (entry.name.size() > 100) {  // as GNU tar writes it
        return tar_member({.name = "././@LongLink", .content = entry.name + '\0', .kind = 'L'}) +
               tar_member({entry.name.substr(0, 100), entry.content, entry.kind, entry.link});
    }
    return tar_head(entry) + padded_to_block(entry.content);
}

inline std::string pax_record(const std::string& key, const std::string& value) {
    const std::size_t rest = key.size() + value.size() + 3;
    std::size_t length = rest + 1;
    while (std::to_string(length).size() + rest != length) {
        length = std::to_string(length).size() + rest;
    }
    return std::to_string(length) + " " + key + "=" + value + "\n";
}

inline std::string tar_end() { return std::string(1024, '\0'); }

template <class Objects>
std::string tar_of(const Objects& objects, const std::string& folder = {}) {
    std::string archive;
    for (const auto& [key, content] : objects) {
        archive += tar_member({.name = folder + key, .content = content});
    }
    return archive + tar_end();
}

inline std::string deflated(std::string_view bytes, int window_bits, int level = 6) {
    z_stream stream{};
    if (deflateInit2(&stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::runtime_error("deflateInit2");
    }
    std::string packed(deflateBound(&stream, bytes.size()) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const int status = deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    if (status != Z_STREAM_END) {
        throw std::runtime_error("deflate");
    }
    return packed;
}

/// One member, or one for each so many bytes.
inline std::string gzip_of(std::string_view bytes, std::size_t member_bytes = std::string_view::npos, int level = 6) {
    std::string packed;
    do {
        packed += deflated(bytes.substr(0, member_bytes), 15 + 16, level);
        bytes.remove_prefix(std::min(member_bytes, bytes.size()));
    } while (!bytes.empty());
    return packed;
}

/// One frame, or one for each so many bytes.
inline std::string zstd_of(std::string_view bytes, std::size_t frame_bytes = std::string_view::npos) {
    std::string packed;
    do {
        const std::string_view piece = bytes.substr(0, frame_bytes);
        std::string frame(ZSTD_compressBound(piece.size()), '\0');
        ZSTD_CCtx* const context = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the program zstd does
        const std::size_t length = ZSTD_compress2(context, frame.data(), frame.size(), piece.data(), piece.size());
        ZSTD_freeCCtx(context);
        if (ZSTD_isError(length) != 0U) {
            throw std::runtime_error("ZSTD_compress");
        }
        packed.append(frame, 0, length);
        bytes.remove_prefix(piece.size());
    } while (!bytes.empty());
    return packed;
}

template <class T>
std::string little(T value) {
    std::string bytes(sizeof(T), '\0');
    std::memcpy(bytes.data(), &value, sizeof(T));
    return bytes;
}

/// With one method for all (0, 8 or 93), behind `before`; sizes in zip64 fields where `wide`.
template <class Objects>
std::string zip_of(const Objects& objects, std::uint16_t method = 8, bool wide = false,
                   const std::string& before = {}) {
    std::string archive = before;
    std::string entries;
    std::uint64_t count = 0;
    for (const auto& [key, content] : objects) {
        const std::string name = key;
        const std::string packed = method == 8    ? deflated(content, -15)
                                   : method == 93 ? zstd_of(content)
                                                  : std::string{content};
        const auto sum =
            static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
        const std::uint64_t offset = archive.size() - before.size();
        const std::string middle = little<std::uint16_t>(method) + little<std::uint32_t>(0) + little(sum);
        const auto length = static_cast<std::uint16_t>(name.size());
        archive += little<std::uint32_t>(0x04034b50) + little<std::uint16_t>(20) + little<std::uint16_t>(0) + middle +
                   little(static_cast<std::uint32_t>(packed.size())) +
                   little(static_cast<std::uint32_t>(content.size())) + little(length) + little<std::uint16_t>(3) +
                   name + "abc" + packed;
        const std::string extra = !wide ? std::string{}
                                        : little<std::uint16_t>(1) + little<std::uint16_t>(24) +
                                              little<std::uint64_t>(content.size()) +
                                              little<std::uint64_t>(packed.size()) + little(offset);
        constexpr std::uint32_t ones = 0xFFFFFFFF;
        entries += little<std::uint32_t>(0x02014b50) + little<std::uint16_t>(0x031E) + little<std::uint16_t>(20) +
                   little<std::uint16_t>(0) + middle + little(wide ? ones : static_cast<std::uint32_t>(packed.size())) +
                   little(wide ? ones : static_cast<std::uint32_t>(content.size())) + little(length) +
                   little(static_cast<std::uint16_t>(extra.size())) + little<std::uint16_t>(0) +
                   little<std::uint16_t>(0) + little<std::uint16_t>(0) + little<std::uint32_t>(0100644U << 16U) +
                   little(wide ? ones : static_cast<std::uint32_t>(offset)) + name + extra;
        ++count;
    }
    const std::uint64_t begin = archive.size() - before.size();
    archive += entries;
    const std::uint64_t end = archive.size();
    if (wide) {
        archive += little<std::uint32_t>(0x06064b50) + little<std::uint64_t>(44) + little<std::uint16_t>(45) +
                   little<std::uint16_t>(45) + little<std::uint32_t>(0) + little<std::uint32_t>(0) + little(count) +
                   little(count) + little<std::uint64_t>(entries.size()) + little(begin);
        archive +=
            little<std::uint32_t>(0x07064b50) + little<std::uint32_t>(0) + little(end) + little<std::uint32_t>(1);
    }
    const auto few = static_cast<std::uint16_t>(wide ? 0xFFFF : count);
    archive += little<std::uint32_t>(0x06054b50) + little<std::uint16_t>(0) + little<std::uint16_t>(0) + little(few) +
               little(few) + little(wide ? 0xFFFFFFFFU : static_cast<std::uint32_t>(entries.size())) +
               little(wide ? 0xFFFFFFFFU : static_cast<std::uint32_t>(begin)) + little<std::uint16_t>(0);
    return archive;
}

}  // namespace smdebug_test
