// Tags, wire types, and one encoded field of a message.
// The wire format defines a field's length, not its meaning: see each message's own header (event.hpp, ...).
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/status.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace smdebug::inline v1::detail::wire {

/// How a field's value is laid out.
enum class wire_type : std::uint8_t {
    varint = 0,
    fixed64 = 1,
    length_delimited = 2,  ///< bytes, text, a nested message, or a packed list
    group_begin = 3,
    group_end = 4,
    fixed32 = 5,
};

/// A field's number in its message: 1 to 2^29 - 1.
using field_number = std::uint32_t;
inline constexpr field_number max_field_number = (1U << 29) - 1;

/// The tag before every field.
struct tag {
    field_number number = 0;
    wire_type type = wire_type::varint;
    friend constexpr bool operator==(const tag&, const tag&) = default;

    /// The tag as a varint.
    [[nodiscard]] constexpr std::uint32_t code() const noexcept {
        return (number << 3) | static_cast<std::uint32_t>(type);
    }

    /// The tag encoded in a varint; empty for number 0, a number too large, or an unknown wire type.
    [[nodiscard]] static constexpr std::optional<tag> from_code(std::uint64_t code) noexcept {
        const std::uint64_t number = code >> 3;
        const std::uint64_t type = code & 7U;
        if (number == 0 || number > max_field_number || type > 5) {
            return std::nullopt;
        }
        return tag{static_cast<field_number>(number), static_cast<wire_type>(type)};
    }
};

/// One field.  The accessors do not check the wire type: check it first with is().
/// Borrows: `bytes` points into the message.
struct field {
    field_number number = 0;
    wire_type type = wire_type::varint;
    std::uint64_t scalar = 0;  ///< the bits of a varint, fixed64 or fixed32
    byte_view bytes;           ///< the content of a length_delimited field

    /// Whether this is field `wanted` in the layout `as`.  A known number in another layout counts as an unknown field,
    /// as in protobuf: callers skip it.
    [[nodiscard]] constexpr bool is(field_number wanted, wire_type as) const noexcept {
        return number == wanted && type == as;
    }

    [[nodiscard]] constexpr std::uint64_t as_uint64() const noexcept { return scalar; }
    [[nodiscard]] constexpr std::int64_t as_int64() const noexcept { return static_cast<std::int64_t>(scalar); }
    [[nodiscard]] constexpr bool as_bool() const noexcept { return scalar != 0; }
    /// The value of a fixed32.
    [[nodiscard]] constexpr float as_float() const noexcept {
        return std::bit_cast<float>(static_cast<std::uint32_t>(scalar));
    }
    /// The value of a fixed64.
    [[nodiscard]] constexpr double as_double() const noexcept { return std::bit_cast<double>(scalar); }
    /// The value of a length_delimited; not checked to be UTF-8.
    [[nodiscard]] std::string_view as_text() const noexcept { return smdebug::as_text(bytes); }
};

// Varints: seven bits a byte, the lowest first, the top bit set if more bytes follow; and zigzag.
// The smallest unit of the protobuf wire format, here so that lengths and tags are read in one way.

/// The most bytes of a varint: 64 bits in groups of seven.
inline constexpr std::size_t max_varint_size = 10;

namespace detail {

/// Varints of two bytes and more.
[[nodiscard]] constexpr status take_long_varint(byte_view& rest, std::uint64_t& value) noexcept {
    const std::size_t limit = rest.size() < max_varint_size ? rest.size() : max_varint_size;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < limit; ++i) {
        const auto byte = static_cast<std::uint8_t>(rest[i]);
        if (i == max_varint_size - 1 && byte > 1) {
            return status::malformed;  // an eleventh byte, or bits above the 64th
        }
        bits |= (std::uint64_t{byte} & 0x7fU) << (7 * i);
        if (byte < 0x80) {
            value = bits;
            rest = rest.subspan(i + 1);
            return status::ok;
        }
    }
    return status::truncated;
}

/// Appends `bytes`, which must not lie in `out`.  Not inlined: if g++ 12 sees small constant sizes through vector's
/// code at -O3, it warns of overflows that cannot happen.
[[gnu::noinline]] inline void append_bytes(std::vector<std::byte>& out, byte_view bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace detail

/// Consumes one varint from the front of `rest`.
/// Errors: truncated if the bytes end within it, malformed if it has more than 64 bits; `rest` and `value` are
/// unchanged then.  A longer form than needed is accepted, as everywhere in protobuf.
[[nodiscard]] constexpr status take_varint(byte_view& rest, std::uint64_t& value) noexcept {
    if (!rest.empty() && static_cast<std::uint8_t>(rest.front()) < 0x80) {  // one byte: nearly every tag and length
        value = static_cast<std::uint8_t>(rest.front());
        rest = rest.subspan(1);
        return status::ok;
    }
    return detail::take_long_varint(rest, value);
}

/// Bytes of the shortest form of `value`: 1 to 10.
[[nodiscard]] constexpr std::size_t varint_size(std::uint64_t value) noexcept {
    return (70 - static_cast<unsigned>(std::countl_zero(value | 1U))) / 7;
}

/// A varint as its bytes.
struct varint_bytes {
    std::array<std::byte, max_varint_size> bytes{};
    std::size_t size = 0;
    [[nodiscard]] constexpr byte_view view() const noexcept { return byte_view{bytes.data(), size}; }
};

/// The shortest form of `value`.
[[nodiscard]] constexpr varint_bytes to_varint(std::uint64_t value) noexcept {
    varint_bytes result;
    while (value >= 0x80) {
        result.bytes[result.size++] = static_cast<std::byte>((value & 0x7fU) | 0x80U);
        value >>= 7;
    }
    result.bytes[result.size++] = static_cast<std::byte>(value);
    return result;
}

/// Appends the shortest form of `value` to `out`.
inline void append_varint(std::vector<std::byte>& out, std::uint64_t value) {
    detail::append_bytes(out, to_varint(value).view());
}

// Appends protobuf fields to a buffer, and computes their sizes in advance.
// A nested message follows its length, so sizes are computed first and nothing is moved or copied twice.

/// Bytes of a field's tag.
[[nodiscard]] constexpr std::size_t tag_size(field_number number) noexcept {
    return varint_size(tag{number, wire_type::varint}.code());
}
/// Bytes of a whole field of each layout.
[[nodiscard]] constexpr std::size_t varint_field_size(field_number number, std::uint64_t value) noexcept {
    return tag_size(number) + varint_size(value);
}
[[nodiscard]] constexpr std::size_t fixed32_field_size(field_number number) noexcept { return tag_size(number) + 4; }
[[nodiscard]] constexpr std::size_t fixed64_field_size(field_number number) noexcept { return tag_size(number) + 8; }
[[nodiscard]] constexpr std::size_t delimited_field_size(field_number number, std::size_t length) noexcept {
    return tag_size(number) + varint_size(length) + length;
}

/// Bytes of a message that are not in the buffer: they belong at position `at`.
/// Borrows: the bytes.
struct omitted_bytes {
    std::size_t at = 0;
    byte_view bytes;
};

/// Appends fields to `out`, which it borrows.  Writes every field passed to it: the caller leaves out defaults.
class field_writer {
public:
    explicit field_writer(std::vector<std::byte>& out) noexcept : out_(&out) {}

    /// Appends fields without copying the argument of write_content, whose position `omitted` receives.
    field_writer(std::vector<std::byte>& out, omitted_bytes& omitted) noexcept : out_(&out), omitted_(&omitted) {}

    void write_varint(field_number number, std::uint64_t value) {
        put_tag(number, wire_type::varint);
        append_varint(*out_, value);
    }
    /// An int32 or int64: negative numbers take ten bytes, as in protobuf.
    void write_int(field_number number, std::int64_t value) { write_varint(number, static_cast<std::uint64_t>(value)); }
    void write_float(field_number number, float value) {
        put_tag(number, wire_type::fixed32);
        put_scalar(std::bit_cast<std::uint32_t>(value));
    }
    void write_double(field_number number, double value) {
        put_tag(number, wire_type::fixed64);
        put_scalar(std::bit_cast<std::uint64_t>(value));
    }
    /// Bytes, a packed list, or an encoded message.  `bytes` must not lie in the buffer.
    void write_bytes(field_number number, byte_view bytes) {
        begin_message(number, bytes.size());
        detail::append_bytes(*out_, bytes);
    }
    void write_text(field_number number, std::string_view text) { write_bytes(number, as_bytes(text)); }

    /// Bytes that may be large, such as a tensor's elements: left out if the writer was constructed so.  One such field
    /// a message.
    void write_content(field_number number, byte_view bytes) {
        begin_message(number, bytes.size());
        if (omitted_ != nullptr) {
            *omitted_ = {out_->size(), bytes};
        } else {
            detail::append_bytes(*out_, bytes);
        }
    }

    /// Begins a nested message of `length` bytes: the caller writes exactly that many next.
    void begin_message(field_number number, std::size_t length) {
        put_tag(number, wire_type::length_delimited);
        append_varint(*out_, length);
    }

private:
    void put_tag(field_number number, wire_type type) { append_varint(*out_, tag{number, type}.code()); }

    template <class Element>
    void put_scalar(Element value) {
        std::array<std::byte, sizeof(Element)> bytes{};
        store_le(bytes.data(), value);
        detail::append_bytes(*out_, bytes);
    }

    std::vector<std::byte>* out_;
    omitted_bytes* omitted_ = nullptr;
};

// Reads the fields of one protobuf message, in order, without copying.
// Every message header is built on this, the only place that decides where a field ends.

/// Reads field after field of the message in `bytes`:
///
///     field_reader reader{message};
///     for (field f; reader.next(f);) { ... }
///     if (reader.code() != status::ok) { return reader.code(); }
///
/// Groups, which no message here has, are skipped as unknown fields, up to max_group_depth deep.
/// Errors:  truncated if the bytes end within a field, malformed for a bad tag, varint or nesting; everything read
///          before is complete.
/// Borrows: the message.      Cost: no allocation; length_delimited fields are skipped without reading them.
class field_reader {
public:
    static constexpr std::size_t max_group_depth = 32;

    explicit constexpr field_reader(byte_view message) noexcept : rest_(message) {}

    /// Reads one field into `out`; false at the end of the message, or on an error, see code().
    [[nodiscard]] constexpr bool next(field& out) noexcept { return take_short(out) || take_next(out); }

    /// status::ok as long as there was no error.
    [[nodiscard]] constexpr status code() const noexcept { return code_; }

private:
    // Nearly every string and nested message: a tag of one byte, and a length of one byte.
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
        bytes = rest_.first(std::size_t{length});
        rest_ = rest_.subspan(std::size_t{length});
        return status::ok;
    }

    /// Skips to the end of the group that was just opened.  A loop with its own small stack, so that nested groups in a
    /// hostile file cannot exhaust the call stack.
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

}  // namespace smdebug::inline v1::detail::wire
