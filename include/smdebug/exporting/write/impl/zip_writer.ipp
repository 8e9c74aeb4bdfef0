// The bodies of <smdebug/exporting/write/zip_writer.hpp>.
#pragma once

#include <smdebug/exporting/write/crc32.hpp>
#include <smdebug/exporting/write/zip_writer.hpp>

#include <algorithm>
#include <concepts>
#include <utility>

namespace smdebug {
inline namespace v1 {
namespace detail {

template <std::unsigned_integral Integer>
void put_le(std::string& out, Integer value) {
    for (std::size_t i = 0; i < sizeof(Integer); ++i) {
        out += static_cast<char>((std::uint64_t{value} >> (8 * i)) & 0xffU);
    }
}

// The fields that both headers of a member have in the same order: version needed, flags, method, time, date, checksum,
// sizes, length of the name, length of what is extra.
inline void put_member_fields(std::string& out, std::string_view name, std::uint32_t checksum, std::uint32_t size,
                              bool is_large, std::size_t extra) {
    constexpr std::uint16_t named_in_utf8 = 0x800;
    constexpr std::uint16_t first_of_1980 = 0x21;  // as numpy has it
    const bool ascii =
        std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    put_le(out, std::uint16_t{is_large ? std::uint16_t{45} : std::uint16_t{20}});
    put_le(out, ascii ? std::uint16_t{0} : named_in_utf8);
    put_le(out, std::uint16_t{0});
    put_le(out, std::uint16_t{0});
    put_le(out, first_of_1980);
    put_le(out, checksum);
    put_le(out, size);
    put_le(out, size);
    put_le(out, static_cast<std::uint16_t>(name.size()));
    put_le(out, static_cast<std::uint16_t>(extra));
}

inline constexpr std::uint16_t zip64_field = 1;
inline constexpr std::uint32_t in_zip64_field = 0xffffffff;

SMDEBUG_INLINE std::string zip_writer::local_header(const member& of) {
    std::string out{"PK\3\4"};
    put_member_fields(out, of.name, of.checksum, of.is_large ? in_zip64_field : static_cast<std::uint32_t>(of.size),
                      of.is_large, of.is_large ? 20 : 0);
    out += of.name;
    if (of.is_large) {
        put_le(out, zip64_field);
        put_le(out, std::uint16_t{16});
        put_le(out, of.size);
        put_le(out, of.size);
    }
    return out;
}

SMDEBUG_INLINE std::string zip_writer::directory_entry(const member& of) const {
    const bool large_size = of.size >= limits_.size;
    const bool large_offset = of.offset >= limits_.size;
    std::string extra;
    if (large_size || large_offset) {
        put_le(extra, zip64_field);
        put_le(extra, static_cast<std::uint16_t>((large_size ? 16 : 0) + (large_offset ? 8 : 0)));
        if (large_size) {
            put_le(extra, of.size);
            put_le(extra, of.size);
        }
        if (large_offset) {
            put_le(extra, of.offset);
        }
    }
    std::string out{"PK\1\2"};
    put_le(out, std::uint16_t{3 << 8 | 45});  // by Unix
    put_member_fields(out, of.name, of.checksum, large_size ? in_zip64_field : static_cast<std::uint32_t>(of.size),
                      of.is_large || large_offset, extra.size());
    put_le(out, std::uint16_t{0});               // length of the comment
    put_le(out, std::uint16_t{0});               // disk
    put_le(out, std::uint16_t{0});               // internal attributes
    put_le(out, std::uint32_t{0100644} << 16U);  // a file, rw-r--r--
    put_le(out, large_offset ? in_zip64_field : static_cast<std::uint32_t>(of.offset));
    return out + of.name + extra;
}

SMDEBUG_INLINE void zip_writer::add(std::string_view name, std::span<const byte_view> pieces) {
    member added{.name = std::string{name}, .offset = to_->size()};
    for (const byte_view piece : pieces) {
        added.size += piece.size();
        added.checksum = crc32::extend(added.checksum, piece);
    }
    added.is_large = added.size >= limits_.size;
    to_->append(local_header(added));
    for (const byte_view piece : pieces) {
        to_->append(piece);
    }
    members_.push_back(std::move(added));
}

SMDEBUG_INLINE void zip_writer::begin(std::string_view name, std::size_t head) {
    members_.push_back({.name = std::string{name}, .offset = to_->size(), .is_large = true});
    to_->append(local_header(members_.back()));
    to_->append(std::string(head, '\0'));
}

SMDEBUG_INLINE void zip_writer::append(byte_view bytes) {
    member& last = members_.back();
    last.size += bytes.size();
    last.checksum = crc32::extend(last.checksum, bytes);
    to_->append(bytes);
}

SMDEBUG_INLINE void zip_writer::end(byte_view head) {
    member& last = members_.back();
    last.checksum = crc32::combine(crc32::extend(0, head), last.checksum, last.size);
    last.size += head.size();
    const std::string header = local_header(last);
    to_->overwrite(last.offset, as_bytes(std::string_view{header}));
    to_->overwrite(last.offset + header.size(), head);
}

SMDEBUG_INLINE void zip_writer::finish() {
    const std::uint64_t begin = to_->size();
    for (const member& each : members_) {
        to_->append(directory_entry(each));
    }
    const std::uint64_t end = to_->size();
    const bool large = members_.size() >= limits_.members || begin >= limits_.size || end - begin >= limits_.size;
    std::string out;
    if (large) {
        out += "PK\6\6";
        put_le(out, std::uint64_t{44});  // bytes of this record behind this field
        put_le(out, std::uint16_t{3 << 8 | 45});
        put_le(out, std::uint16_t{45});
        put_le(out, std::uint32_t{0});
        put_le(out, std::uint32_t{0});
        put_le(out, std::uint64_t{members_.size()});
        put_le(out, std::uint64_t{members_.size()});
        put_le(out, end - begin);
        put_le(out, begin);
        out += "PK\6\7";
        put_le(out, std::uint32_t{0});
        put_le(out, end);
        put_le(out, std::uint32_t{1});
    }
    const auto count = large ? std::uint16_t{0xffff} : static_cast<std::uint16_t>(members_.size());
    out += "PK\5\6";
    put_le(out, std::uint16_t{0});
    put_le(out, std::uint16_t{0});
    put_le(out, count);
    put_le(out, count);
    put_le(out, large ? in_zip64_field : static_cast<std::uint32_t>(end - begin));
    put_le(out, large ? in_zip64_field : static_cast<std::uint32_t>(begin));
    put_le(out, std::uint16_t{0});
    to_->append(out);
}

}  // namespace detail
}  // namespace v1
}  // namespace smdebug
