// From bytes to records: a whole record, a cut one, or a bad one.
// Knows nothing of what a payload holds, nor of where the bytes come from.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/record/crc_check.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/record/payload_check.hpp>

#include <cstddef>

namespace smdebug {
inline namespace v1 {
namespace record {

namespace detail {

/// One record.
/// Borrows: `payload` points into the bytes that were read.
struct record_view {
    byte_view payload;
    std::size_t size = 0;  ///< bytes of the whole record: the next one begins that far behind this one's begin
};

/// A record found by its header alone; the footer is not yet looked at.
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

/// The record that `bytes` begins with; more bytes may follow it.
/// Errors:  truncated where the record is not all there (no bytes at all, too), bad_length_checksum,
///          bad_payload_checksum; a length is believed after its checksum was checked (unless `check` is none) and
///          after comparison with the bytes that are there.
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
/// After `truncated` the reader keeps its place: give it the longer bytes by resume() and call next() again.
/// After `bad_payload_checksum` it stands behind the bad record, whose length is known, so next() goes on.
/// After `bad_length_checksum` it stays: nothing behind that place can be found.
/// Borrows: the bytes, until the next resume() or the reader's end.
class reader {
public:
    explicit reader(byte_view bytes, crc_check check = crc_check::full) noexcept : bytes_(bytes), check_(check) {}

    /// The next record, or why there is none; at the end of the bytes: truncated, and at_end() tells the two apart.
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

    /// Goes on in `bytes`: the same file from its beginning, at least as long as before, perhaps elsewhere in memory.
    /// Returns false, and changes nothing, where they end before the reader's place.
    [[nodiscard]] bool resume(byte_view bytes) noexcept {
        if (bytes.size() < position_) {
            return false;
        }
        bytes_ = bytes;
        return true;
    }

    /// Where the next record begins.
    [[nodiscard]] std::size_t position() const noexcept { return position_; }
    /// Whether the last record ended exactly where the bytes do.
    [[nodiscard]] bool at_end() const noexcept { return position_ == bytes_.size(); }

private:
    byte_view bytes_;
    std::size_t position_ = 0;
    crc_check check_;
};

}  // namespace detail

}  // namespace record
}  // namespace v1
}  // namespace smdebug
