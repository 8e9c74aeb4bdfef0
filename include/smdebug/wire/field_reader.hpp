// Walks the fields of one protobuf message, in the order of the bytes, without copying.
// Every message header is written on top of this; it is the only place that decides how far a field reaches.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/varint.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

/// Reads field after field of the message in `bytes`:
///
///     field_reader reader{message};
///     for (field f; reader.next(f);) { ... }
///     if (reader.code() != status::ok) { return reader.code(); }
///
/// Groups, which no message here has, are skipped as unknown fields, up to max_group_depth deep.
/// Errors:  truncated where the bytes end within a field, malformed for a bad tag, varint or nesting; what was read
///          before that place was whole.
/// Borrows: the message.      Cost: no allocation; a length_delimited field is stepped over, not looked into.
class field_reader {
public:
    static constexpr std::size_t max_group_depth = 32;

    explicit constexpr field_reader(byte_view message) noexcept : rest_(message) {}

    /// Reads one field into `out`; false at the end of the message, or where code() says what is wrong.
    [[nodiscard]] constexpr bool next(field& out) noexcept { return take_short(out) || take_next(out); }

    /// status::ok as long as everything read so far was right.
    [[nodiscard]] constexpr status code() const noexcept { return code_; }

private:
    // Nearly every text and nested message: a tag of one byte, and a length of one.
    [[nodiscard]] constexpr bool take_short(field& out) noexcept {
        if (code_ != status::ok || rest_.size() < 2) {
            return false;
        }
        const auto code = static_cast<std::uint8_t>(rest_[0]);
        const std::size_t length = static_cast<std::uint8_t>(rest_[1]);
        constexpr auto delimited = static_cast<std::uint8_t>(wire_type::length_delimited);
        if (code < 8 || code >= 0x80 || (code & 7U) != delimited || length >= 0x80 || length > rest_.size() - 2) {
            return false;
        }
        out.number = code >> 3U;
        out.type = wire_type::length_delimited;
        out.scalar = 0;
        out.bytes = rest_.subspan(2, length);
        rest_ = rest_.subspan(2 + length);
        return true;
    }

    [[nodiscard]] constexpr bool take_next(field& out) noexcept {
        while (code_ == status::ok && !rest_.empty()) {
            code_ = take_field(out);
            if (code_ != status::ok) {
                return false;
            }
            if (out.type == wire_type::group_end) {
                code_ = status::malformed;  // no group is open
                return false;
            }
            if (out.type != wire_type::group_begin) {
                return true;
            }
            code_ = skip_group(out.number);
        }
        return false;
    }

    [[nodiscard]] constexpr status take_field(field& out) noexcept {
        std::uint64_t code = 0;
        if (const status read = take_varint(rest_, code); read != status::ok) {
            return read;
        }
        const auto found = tag::from_code(code);
        if (!found) {
            return status::malformed;
        }
        out.number = found->number;
        out.type = found->type;
        out.scalar = 0;
        out.bytes = {};
        switch (out.type) {
            case wire_type::varint:
                return take_varint(rest_, out.scalar);
            case wire_type::fixed64:
                return take_fixed(8, out.scalar);
            case wire_type::fixed32:
                return take_fixed(4, out.scalar);
            case wire_type::length_delimited:
                return take_delimited(out.bytes);
            case wire_type::group_begin:
            case wire_type::group_end:
                return status::ok;
        }
        return status::malformed;
    }

    [[nodiscard]] constexpr status take_fixed(std::size_t size, std::uint64_t& value) noexcept {
        if (rest_.size() < size) {
            return status::truncated;
        }
        value = 0;
        for (std::size_t i = 0; i < size; ++i) {  // compilers make one load of it
            value |= std::uint64_t{static_cast<std::uint8_t>(rest_[i])} << (8 * i);
        }
        rest_ = rest_.subspan(size);
        return status::ok;
    }

    [[nodiscard]] constexpr status take_delimited(byte_view& bytes) noexcept {
        std::uint64_t length = 0;
        if (const status read = take_varint(rest_, length); read != status::ok) {
            return read;
        }
        if (length > rest_.size()) {
            return status::truncated;
        }
        bytes = rest_.first(static_cast<std::size_t>(length));
        rest_ = rest_.subspan(static_cast<std::size_t>(length));
        return status::ok;
    }

    /// Reads on behind the end of the group that was just opened.  A loop with its own small stack, so that nested
    /// groups in a hostile file cannot exhaust the real one.
    [[nodiscard]] constexpr status skip_group(field_number number) noexcept {
        std::array<field_number, max_group_depth> open{};
        std::size_t depth = 0;
        open[depth++] = number;
        field inner;
        while (depth > 0) {
            if (rest_.empty()) {
                return status::truncated;
            }
            if (const status read = take_field(inner); read != status::ok) {
                return read;
            }
            if (inner.type == wire_type::group_begin) {
                if (depth == max_group_depth) {
                    return status::malformed;
                }
                open[depth++] = inner.number;
            } else if (inner.type == wire_type::group_end && inner.number != open[--depth]) {
                return status::malformed;
            }
        }
        return status::ok;
    }

    byte_view rest_;
    status code_ = status::ok;
};

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
