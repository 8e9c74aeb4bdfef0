// What an answer says of the part of an object that it holds.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smdebug {
inline namespace v1 {
namespace s3 {
namespace detail {

/// "bytes 0-9/100", or "bytes */100" of an answer that holds nothing.
struct content_range {
    byte_range where;
    std::uint64_t total = 0;  ///< the whole object
    friend bool operator==(const content_range&, const content_range&) = default;
};

/// Takes a whole number off the front.
[[nodiscard]] std::optional<std::uint64_t> take_number(std::string_view& text) noexcept;

[[nodiscard]] bool take(std::string_view& text, std::string_view what) noexcept;

/// Nothing where it is not of that form, or does not fit itself.
[[nodiscard]] std::optional<content_range> parse_content_range(std::string_view text) noexcept;

/// What an answer says of its body's length; nothing where it does not.
[[nodiscard]] std::optional<std::uint64_t> body_length(const http::response& answer) noexcept;

/// The header that asks for a part; nothing has to be asked of an empty one.
[[nodiscard]] std::string range_header(byte_range wanted);

/// The part that an answer to a ranged request holds, whatever of these the server chose to send: 206 with the part,
/// 200 with the whole object, 416 where the object ends before it.  `size` of the body counts, not what is said of it.
struct held_part {
    byte_view bytes;          ///< of what was wanted: shorter only at the object's end.  Borrows the answer
    std::uint64_t total = 0;  ///< the whole object
};

/// Nothing where the answer is not what was asked for: a wrong or a short part, an object's size that is not told.
[[nodiscard]] std::optional<held_part> part_in(const http::response& answer, byte_range wanted) noexcept;

}  // namespace detail
}  // namespace s3
}  // namespace v1
}  // namespace smdebug

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/content_range.ipp>
#endif
