// Appends protobuf fields to a buffer, and says beforehand how many bytes they take.
// A nested message is written behind its length, so sizes are computed first and nothing is moved or copied twice.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/wire/field.hpp>
#include <smdebug/wire/varint.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

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

/// Bytes that a message holds and a buffer does not: they belong at `at` in it.
/// Borrows: the bytes.
struct omitted_bytes {
    std::size_t at = 0;
    byte_view bytes;
};

/// Appends fields to `out`, which it borrows.  Writes what it is told: leaving out defaults is the message's business.
class field_writer {
public:
    explicit field_writer(std::vector<std::byte>& out) noexcept : out_(&out) {}

    /// The same, but what write_content is given is not copied: `omitted` says where it belongs.
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
    /// Bytes, a packed list, or a message that is already encoded.  `bytes` must not lie in the buffer.
    void write_bytes(field_number number, byte_view bytes) {
        begin_message(number, bytes.size());
        detail::append_bytes(*out_, bytes);
    }
    void write_text(field_number number, std::string_view text) { write_bytes(number, as_bytes(text)); }

    /// Bytes that may be large, such as a tensor's elements: left out where the writer was made so.  One such field a
    /// message.
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

    template <class T>
    void put_scalar(T value) {
        std::array<std::byte, sizeof(T)> bytes{};
        store_le(bytes.data(), value);
        detail::append_bytes(*out_, bytes);
    }

    std::vector<std::byte>* out_;
    omitted_bytes* omitted_ = nullptr;
};

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
