// The bodies of <smdebug/formats/record_file.hpp>.
#pragma once

#include <smdebug/formats/record_file.hpp>
#include <smdebug/record/framing.hpp>
#include <smdebug/storage/concepts.hpp>
#include <smdebug/trial/read/event_source.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace smdebug::inline v1::detail {

/// How many zeros are looked at.
inline constexpr std::uint64_t zeros_looked_at = std::uint64_t{1} << 20U;

[[nodiscard]] inline bool is_zero(byte_view bytes) noexcept {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte one) { return one == std::byte{}; });
}

SMDEBUG_INLINE std::size_t record_file::read(const any_storage& store, record_sink on_record, damage_sink on_damage) {
    if (state_ != status::ok && state_ != status::truncated) {
        return 0;
    }
    const std::optional<std::uint64_t> found = store.size(key_);
    const std::uint64_t size = found.value_or(0);
    size_ = found ? size_ : 0;  // nothing is read of a file that is not there
    if (size == size_ && !has_zeros_) {
        return 0;
    }
    const std::unique_ptr<opened_object> object = store.open(key_);
    piece_buffer buffer;  // small pieces stay in the CPU's cache
    std::optional<opened_event_file> opened;
    if (object != nullptr) {
        opened.emplace(*object, buffer, std::size_t{256} << 10U);
    }
    piecewise_event_file pieces{store, key_, std::uint64_t{4} << 20U};
    byte_view ahead;  // the file's bytes from position_ on
    const auto at_least = [&](std::uint64_t length) {
        if (ahead.size() < length) {
            ahead = opened ? opened->from(position_, length) : pieces.at({position_, length});
        }
        return ahead.first(static_cast<std::size_t>(std::min<std::uint64_t>(length, ahead.size())));
    };
    const auto pass = [&](std::uint64_t length) {
        position_ += length;
        ahead = ahead.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(length, ahead.size())));
    };
    static_cast<void>(at_least(record::header_size));  // a file that may not be read is tried again
    size_ = size;
    missing_ = 0;
    has_zeros_ = false;
    for (std::size_t count = 0;; ++count) {
        const byte_view head = at_least(record::header_size);
        if (head.size() < record::header_size) {
            state_ = head.empty() ? status::ok : status::truncated;
            return count;
        }
        const record::detail::header claimed = record::load_header(head.data());
        const auto framed = record::framed_size(claimed.length);
        if (!claimed.valid() && is_zero(head.last(1)) &&
            is_zero(at_least(zeros_looked_at).subspan(record::header_size))) {
            has_zeros_ = true;
            state_ = status::truncated;
            return count;
        }
        if (!claimed.valid() || !framed) {
            state_ = claimed.valid() ? status::too_large : status::bad_length_checksum;
            on_damage({position_, record::header_size}, state_);
            return count;
        }
        const byte_range where{position_, *framed};
        if (*framed > most_) {
            const std::uint64_t there = size - std::min(position_, size);  // it may have grown since it was measured
            if (*framed > there) {
                missing_ = *framed - there;
                state_ = status::truncated;
                return count;
            }
            pass(*framed);
            on_damage(where, status::too_large);
            continue;
        }
        const byte_view bytes = at_least(*framed);
        const auto record = record::read_record(bytes, crc_check::full);
        if (record.code() == status::bad_payload_checksum && is_zero(bytes.last(1)) &&
            is_zero(at_least(*framed + zeros_looked_at).subspan(bytes.size()))) {
            has_zeros_ = true;
            state_ = status::truncated;
            return count;
        }
        if (!record.ok() && record.code() != status::bad_payload_checksum) {
            missing_ = *framed - bytes.size();
            state_ = record.code();
            return count;
        }
        pass(*framed);
        if (record.ok()) {
            on_record(where, record->payload);
        } else {
            on_damage(where, record.code());
        }
    }
}

SMDEBUG_INLINE std::string record_file::cut_text() const {
    if (state_ == status::ok) {
        return position_ == 0 && size_ == 0 ? "the file is empty" : "";
    }
    if (state_ != status::truncated) {
        return {};
    }
    if (has_zeros_) {
        return "zeros follow: the file was not written to its end";
    }
    return "the record is cut: the file ends " +
           (missing_ == 0 ? std::string{"within its length"}
                          : std::to_string(missing_) + (missing_ == 1 ? " byte early" : " bytes early"));
}

SMDEBUG_INLINE std::string place_in(std::string_view key, std::uint64_t offset) {
    return std::string{key} + ", byte " + std::to_string(offset);
}

/// The kind of a file that is not an event file, by its first bytes; empty if unknown.
[[nodiscard]] inline std::string_view other_kind_of_file(std::string_view begin) noexcept {
    struct beginning {
        std::string_view bytes;
        std::string_view kind;
    };
    using namespace std::string_view_literals;
    constexpr std::array known{
        beginning{"\x1f\x8b"sv, "gzip: unpack it"sv},
        beginning{"\x28\xb5\x2f\xfd"sv, "zstd: unpack it"sv},
        beginning{"\xfd\x37zXZ"sv, "xz: unpack it"sv},
        beginning{"BZh"sv, "bzip2: unpack it"sv},
        beginning{"PK\x03\x04"sv, "zip: unpack it"sv},
        beginning{"\x00\x05\x16\x07"sv, "what macOS keeps beside a file"sv},
    };
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const beginning& one) { return begin.starts_with(one.bytes); });
    if (found != known.end()) {
        return found->kind;
    }
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    begin.remove_prefix(begin.starts_with(byte_order_mark) ? byte_order_mark.size() : 0);
    const auto is_text = [](char one) {
        return one >= ' ' ? one != '\x7f' : one == '\n' || one == '\r' || one == '\t';
    };
    if (begin.empty() || !std::all_of(begin.begin(), begin.end(), is_text)) {
        return {};
    }
    begin.remove_prefix(std::min(begin.find_first_not_of(" \t\r\n"), begin.size()));
    return begin.starts_with('<')                             ? "HTML or XML: download the file again"
           : begin.starts_with('{') || begin.starts_with('[') ? "JSON"
                                                              : "text";
}

SMDEBUG_INLINE problem record_problem(const any_storage& store, const std::string& key, byte_range where, status why) {
    problem found{.where = place_in(key, where.offset)};
    if (why == status::bad_payload_checksum) {
        found.what = "the record is damaged: it is left out";
        return found;
    }
    if (why == status::too_large && where.length > record::header_size) {
        found.kind = problem_kind::unsupported;
        found.what = "the record has " + std::to_string(where.length) + " bytes, more than allowed: it is left out";
        return found;
    }
    if (where.offset == 0) {
        const byte_buffer begin = store.read(key, {0, 128});
        if (as_text(begin.view()).starts_with(lfs_pointer_begin)) {
            found.what = lfs_pointer_text;
            return found;
        }
        if (const std::string_view kind = other_kind_of_file(as_text(begin.view())); !kind.empty()) {
            found.what = "this is not an event file (" + std::string{kind} + ")";
            return found;
        }
    }
    found.what = "the length of a record is damaged: nothing behind it can be read";
    return found;
}

}  // namespace smdebug::inline v1::detail
