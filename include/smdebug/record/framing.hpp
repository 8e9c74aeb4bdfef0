// The layout of one TFRecord: length, checksum of the length, payload, footer.
// Separate from reader and writer, so that both use the same numbers.
//
//   0        8          12               12+n     16+n
//   | u64 n  | u32 mask | n payload bytes | u32    |        all little-endian
//   | length | of crc   |                 | footer |
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/crc32c.hpp>
#include <smdebug/record/payload_check.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace smdebug::inline v1::record {

inline constexpr std::size_t length_size = 8;    ///< bytes of the length
inline constexpr std::size_t checksum_size = 4;  ///< bytes of either checksum
inline constexpr std::size_t header_size = length_size + checksum_size;
inline constexpr std::size_t footer_size = checksum_size;
inline constexpr std::size_t overhead = header_size + footer_size;  ///< bytes of a record besides its payload

namespace detail {

/// The bytes before a payload.
struct header {
    std::uint64_t length = 0;           ///< bytes of payload; untrusted before valid() and a comparison
    std::uint32_t length_checksum = 0;  ///< masked crc32c of the length's eight bytes

    /// Whether the checksum matches the length.
    [[nodiscard]] constexpr bool valid() const noexcept { return length_checksum == checksum_of(length); }

    /// The masked crc32c of a length's eight little-endian bytes.
    [[nodiscard]] static constexpr std::uint32_t checksum_of(std::uint64_t length) noexcept {
        std::array<std::byte, length_size> bytes{};
        for (std::size_t i = 0; i < length_size; ++i) {
            bytes[i] = static_cast<std::byte>((length >> (8 * i)) & 0xffU);
        }
        return crc32c::mask(crc32c::value(byte_view{bytes}));
    }

    /// The header of a payload of `length` bytes.
    [[nodiscard]] static constexpr header of(std::uint64_t length) noexcept { return {length, checksum_of(length)}; }
};

}  // namespace detail

/// The unverified header at `at`.  The caller has checked that header_size bytes are available.
[[nodiscard]] inline detail::header load_header(const std::byte* at) noexcept {
    return {load_le<std::uint64_t>(at), load_le<std::uint32_t>(at + length_size)};
}

/// Writes a header's header_size bytes to `at`.
inline void store_header(std::byte* at, const detail::header& value) noexcept {
    store_le(at, value.length);
    store_le(at + length_size, value.length_checksum);
}

/// Bytes of a record with `length` bytes of payload; empty on overflow.
[[nodiscard]] constexpr std::optional<std::uint64_t> framed_size(std::uint64_t length) noexcept {
    if (length > std::numeric_limits<std::uint64_t>::max() - overhead) {
        return std::nullopt;
    }
    return length + overhead;
}

/// The footer of a payload.  Cost: one pass over the payload for `checksum`, none for `package_constant`.
[[nodiscard]] inline std::uint32_t footer_of(byte_view payload, footer_kind kind) noexcept {
    return kind == footer_kind::package_constant ? package_footer : crc32c::mask(crc32c::value(payload));
}

/// Appends `payload` as one record to `out`; `payload` must not lie in `out`.
/// Cost: one copy of the payload, and footer_of.
inline void append_record(std::vector<std::byte>& out, byte_view payload,
                          footer_kind kind = footer_kind::package_constant) {
    const std::size_t begin = out.size();
    const std::size_t footer_at = begin + header_size + payload.size();
    out.resize(footer_at + footer_size);
    store_header(out.data() + begin, detail::header::of(payload.size()));
    std::copy(payload.begin(), payload.end(), out.data() + begin + header_size);
    store_le(out.data() + footer_at, footer_of(payload, kind));
}

// From bytes to records: a whole record, a truncated one, or a bad one.
// Independent of the payload's content, and of the source of the bytes.

namespace detail {

/// One record.
/// Borrows: `payload` points into the bytes read.
struct record_view {
    byte_view payload;
    std::size_t size = 0;  ///< bytes of the whole record, and the distance to the next one
};

/// A record located by its header alone; the footer is not checked yet.
[[nodiscard]] inline result<record_view> find_record(byte_view bytes, crc_check check) noexcept {
    if (bytes.size() < header_size) {
        return status::truncated;
    }
    const header head = load_header(bytes.data());
    if (check != crc_check::none && !head.valid()) {
        return status::bad_length_checksum;
    }
    const std::size_t left = bytes.size() - header_size;
    if (left < footer_size || head.length > left - footer_size) {  // no sum of untrusted numbers, so no overflow
        return status::truncated;
    }
    const auto length = static_cast<std::size_t>(head.length);
    return record_view{bytes.subspan(header_size, length), length + overhead};
}

/// Whether the footer is the package's constant or the payload's true checksum.
[[nodiscard]] inline bool footer_matches(const record_view& record) noexcept {
    return payload_check{record.payload}.holds();
}

}  // namespace detail

/// The record at the begin of `bytes`; more bytes may follow it.
/// Errors:  truncated if the record is incomplete (or there are no bytes at all), bad_length_checksum,
///          bad_payload_checksum; a length is used after its checksum was checked (unless `check` is none) and after
///          comparison with the available bytes.
/// Borrows: `bytes`.      Cost: one pass over a payload with a true checksum under `full`, else a few instructions.
[[nodiscard]] inline result<detail::record_view> read_record(byte_view bytes,
                                                             crc_check check = crc_check::full) noexcept {
    const result<detail::record_view> found = detail::find_record(bytes, check);
    if (found.ok() && check == crc_check::full && !detail::footer_matches(*found)) {
        return status::bad_payload_checksum;
    }
    return found;
}

namespace detail {

/// Walks the records of a file, which may still be growing.
/// After `truncated` the reader keeps its position: pass the longer bytes to resume() and call next() again.
/// After `bad_payload_checksum` it is positioned after the bad record, whose length is known, so next() continues.
/// After `bad_length_checksum` it stays: nothing after that position can be found.
/// Borrows: the bytes, until the next resume() or the reader's end.
class reader {
public:
    explicit reader(byte_view bytes, crc_check check = crc_check::full) noexcept : bytes_(bytes), check_(check) {}

    /// The next record, or an error; at the end of the bytes: truncated, and at_end() distinguishes the two cases.
    [[nodiscard]] result<record_view> next() noexcept {
        const result<record_view> found = detail::find_record(bytes_.subspan(position_), check_);
        if (!found.ok()) {
            return found;
        }
        position_ += found->size;
        if (check_ == crc_check::full && !detail::footer_matches(*found)) {
            return status::bad_payload_checksum;
        }
        return found;
    }

    /// Continues in `bytes`: the same file from its beginning, at least as long as before, perhaps elsewhere in memory.
    /// Returns false, and changes nothing, if they end before the reader's position.
    [[nodiscard]] bool resume(byte_view bytes) noexcept {
        if (bytes.size() < position_) {
            return false;
        }
        bytes_ = bytes;
        return true;
    }

    /// The position of the next record.
    [[nodiscard]] std::size_t position() const noexcept { return position_; }
    /// Whether the last record ended exactly at the end of the bytes.
    [[nodiscard]] bool at_end() const noexcept { return position_ == bytes_.size(); }

private:
    byte_view bytes_;
    std::size_t position_ = 0;
    crc_check check_;
};

}  // namespace detail

}  // namespace smdebug::inline v1::record
