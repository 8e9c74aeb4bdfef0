// One operation of S3 before it has a host, a time and a signature, which are new at each attempt.
#pragma once

#include <smdebug/core/bytes.hpp>
#include <smdebug/core/form.hpp>
#include <smdebug/http/message.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smdebug::inline v1::s3::detail {

/// Whether an answer with a success status has the requested content.  If not, it is damaged, and the call is retried.
/// `wanted` is the range of the object that the call reads.
using answer_check = bool (*)(const http::response& answer, byte_range wanted);

/// Accepts any answer.
[[nodiscard]] inline bool takes_any(const http::response& /*answer*/, byte_range /*wanted*/) noexcept { return true; }

/// A call: its request as far as it is the same at each attempt, and what its answer must be.
struct call {
    http::method method = http::method::get;
    std::string key = {};  ///< the full key, not encoded; the bucket itself if empty
    std::vector<std::pair<std::string, std::string>> query = {};
    std::vector<http::header> headers = {};
    byte_view body = {};                            ///< borrowed until the call ends
    std::uint64_t most = std::uint64_t{16} << 20U;  ///< limit for the answer's body
    byte_range wanted = {};                         ///< for `check`
    answer_check check = takes_any;
    /// Deadline of the call, if earlier than that of s3_options::retry.
    http::request::clock::time_point latest = http::request::clock::time_point::max();
    const char* doing = "asking";  ///< for messages: "reading", "listing", ...
};

/// "bytes 0-9/100", or "bytes */100" in an answer without content.
struct content_range {
    byte_range where;
    std::uint64_t total = 0;  ///< the whole object
    friend bool operator==(const content_range&, const content_range&) = default;
};

/// Removes a number from the front.
[[nodiscard]] std::optional<std::uint64_t> take_number(std::string_view& text) noexcept;

/// Removes `what` from the front; returns whether it was there.
[[nodiscard]] bool take(std::string_view& text, std::string_view what) noexcept;

/// Nothing if malformed or inconsistent.
[[nodiscard]] std::optional<content_range> parse_content_range(std::string_view text) noexcept;

/// The body's length as the answer declares it, if it does.
[[nodiscard]] std::optional<std::uint64_t> body_length(const http::response& answer) noexcept;

/// An ETag without its quotes.
[[nodiscard]] constexpr std::string_view unquoted(std::string_view etag) noexcept {
    const bool quoted = etag.size() >= 2 && etag.front() == '"' && etag.back() == '"';
    return quoted ? etag.substr(1, etag.size() - 2) : etag;
}

/// The header that requests a range.  Precondition: the range is not empty.
[[nodiscard]] std::string range_header(byte_range wanted);

/// The wanted part, from whichever answer the server chose for a ranged request: 206 with the part, 200 with the whole
/// object, 416 if the object ends before it.  Uses the body's actual size, not the declared one.
struct held_part {
    byte_view bytes;          ///< shorter than wanted only at the object's end.  Borrows the answer
    std::uint64_t total = 0;  ///< the whole object
};

/// Nothing if the answer does not fit the request: a wrong or a short part, or an unknown size of the object.
[[nodiscard]] std::optional<held_part> part_in(const http::response& answer, byte_range wanted) noexcept;

}  // namespace smdebug::inline v1::s3::detail

#ifndef SMDEBUG_COMPILED
#include <smdebug/s3/call/impl/call.ipp>
#endif
