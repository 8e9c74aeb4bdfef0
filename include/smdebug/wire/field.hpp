// Tags, wire types, and one field of a message as it stands on the wire.
// The wire says how long a field is, not what it means: that is told by the message's own header (event.hpp, ...).
#pragma once

#include <smdebug/core/bytes.hpp>

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace detail::wire {

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

/// What stands before every field.
struct tag {
    field_number number = 0;
    wire_type type = wire_type::varint;
    friend constexpr bool operator==(const tag&, const tag&) = default;

    /// The tag as the varint that the wire holds.
    [[nodiscard]] constexpr std::uint32_t code() const noexcept {
        return (number << 3) | static_cast<std::uint32_t>(type);
    }

    /// The tag of a varint; empty for number 0, a number too large, or a wire type that does not exist.
    [[nodiscard]] static constexpr std::optional<tag> from_code(std::uint64_t code) noexcept {
        const std::uint64_t number = code >> 3;
        const std::uint64_t type = code & 7U;
        if (number == 0 || number > max_field_number || type > 5) {
            return std::nullopt;
        }
        return tag{static_cast<field_number>(number), static_cast<wire_type>(type)};
    }
};

/// One field.  The readers of its value take it at its word: check the wire type first, with is().
/// Borrows: `bytes` points into the message.
struct field {
    field_number number = 0;
    wire_type type = wire_type::varint;
    std::uint64_t scalar = 0;  ///< the bits of a varint, fixed64 or fixed32
    byte_view bytes;           ///< the content of a length_delimited field

    /// Whether this is field `wanted` in the layout `as`.  A known number in another layout is an unknown field, as in
    /// protobuf: callers skip it.
    [[nodiscard]] constexpr bool is(field_number wanted, wire_type as) const noexcept {
        return number == wanted && type == as;
    }

    [[nodiscard]] constexpr std::uint64_t as_uint64() const noexcept { return scalar; }
    [[nodiscard]] constexpr std::int64_t as_int64() const noexcept { return static_cast<std::int64_t>(scalar); }
    [[nodiscard]] constexpr bool as_bool() const noexcept { return scalar != 0; }
    /// Of a fixed32.
    [[nodiscard]] constexpr float as_float() const noexcept {
        return std::bit_cast<float>(static_cast<std::uint32_t>(scalar));
    }
    /// Of a fixed64.
    [[nodiscard]] constexpr double as_double() const noexcept { return std::bit_cast<double>(scalar); }
    /// Of a length_delimited; not checked to be UTF-8.
    [[nodiscard]] std::string_view as_text() const noexcept { return smdebug::as_text(bytes); }
};

}  // namespace detail::wire
}  // namespace v1
}  // namespace smdebug
